/*
 * mutants.h -- `profsim mutants`: shows which tests caught the mutants of each
 * line of the library, or which kernel notices a weaker memory order.
 */
#ifndef CLI_MUTANTS_H
#define CLI_MUTANTS_H

#include "exit.h"

enum cli_exit cli_mutants(int argc, char **argv);

#endif
