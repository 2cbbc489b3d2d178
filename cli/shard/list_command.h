/* list_command.h -- `profsim shard`: runs one shard of a list of commands. */
#ifndef CLI_LIST_COMMAND_H
#define CLI_LIST_COMMAND_H

#include "exit.h"

enum cli_exit cli_list_shard(int argc, char **argv);

#endif
