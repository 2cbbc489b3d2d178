/* explore.h -- `profsim explore`: every ordering of small programs. */
#ifndef CLI_EXPLORE_H
#define CLI_EXPLORE_H

#include "exit.h"

struct cli_syntax;

/* Its options (explore_words.c). */
extern const struct cli_syntax cli_explore_syntax;

enum cli_exit cli_explore(int argc, char **argv);

#endif
