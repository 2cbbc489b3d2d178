/* levels.h -- `profsim explore prog.c`, at more than one level of
 * optimisation. */
#ifndef CLI_LEVELS_H
#define CLI_LEVELS_H

#include "common/command/exit.h"

/* cli_explore_any(), and for a program that holds a second time at -O0. */
enum cli_exit cli_explore_levels(int argc, char **argv);

#endif
