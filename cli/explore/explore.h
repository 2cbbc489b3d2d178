/* explore.h -- `profsim explore`: every ordering of small programs. */
#ifndef CLI_EXPLORE_H
#define CLI_EXPLORE_H

#include "exit.h"

enum cli_exit cli_explore(int argc, char **argv);

#endif
