/* build_program.h -- `profsim explore prog.c`: build it, and explore it. */
#ifndef EXPLORE_COMMAND_BUILD_PROGRAM_H
#define EXPLORE_COMMAND_BUILD_PROGRAM_H

#include <stdbool.h>

#include "common/command/exit.h"

/* `profsim explore`: explores a program if a word names a source file, else
 * kernels. */
enum cli_exit cli_explore_any(int argc, char **argv);

bool cli_explore_names_source(int argc, char **argv);

#endif
