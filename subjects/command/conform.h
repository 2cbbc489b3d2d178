/* conform.h -- `profsim conform`. */
#ifndef SUBJECTS_COMMAND_CONFORM_H
#define SUBJECTS_COMMAND_CONFORM_H

#include "common/command/exit.h"
#include "common/report/report.h"

/* The outcome of a check. */
struct cli_conform_outcome {
    enum cli_verdict verdict;
    char text[1024]; /* not trusted */
};

enum cli_exit cli_conform(int argc, char **argv);

#endif
