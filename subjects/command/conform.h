/* conform.h -- `profsim conform`. */
#ifndef CLI_CONFORM_H
#define CLI_CONFORM_H

#include "exit.h"
#include "report.h"

/* The outcome of a check. */
struct cli_conform_outcome {
    enum cli_verdict verdict;
    char text[1024]; /* not trusted */
};

enum cli_exit cli_conform(int argc, char **argv);

#endif
