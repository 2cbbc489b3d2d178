/* explore_command.h -- `profsim explore`: every ordering of small programs. */
#ifndef EXPLORE_COMMAND_EXPLORE_COMMAND_H
#define EXPLORE_COMMAND_EXPLORE_COMMAND_H

#include "common/command/exit.h"

struct cli_syntax;

/* Its options (explore_words.c). */
extern const struct cli_syntax cli_explore_syntax;

enum cli_exit cli_explore(int argc, char **argv);

#endif
