/* merge.h -- `profsim merge DIR`: adds up the results of shards. */
#ifndef CLI_MERGE_H
#define CLI_MERGE_H

#include "exit.h"

enum cli_exit cli_merge(int argc, char **argv);

#endif
