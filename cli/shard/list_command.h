/* list_command.h -- `profsim shard`: a list of commands, one shard of it. */
#ifndef CLI_LIST_COMMAND_H
#define CLI_LIST_COMMAND_H

#include "exit.h"

enum cli_exit cli_list_shard(int argc, char **argv);

#endif
