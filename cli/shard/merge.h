/* merge.h -- `profsim merge DIR`: the results of shards, added up. */
#ifndef CLI_MERGE_H
#define CLI_MERGE_H

#include "exit.h"

enum cli_exit cli_merge(int argc, char **argv);

#endif
