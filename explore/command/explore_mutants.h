/* explore_mutants.h -- weaken each memory order; which kernel notices? */
#ifndef EXPLORE_COMMAND_EXPLORE_MUTANTS_H
#define EXPLORE_COMMAND_EXPLORE_MUTANTS_H

#include "explore/command/explore_words.h"

/*
 * Print one row for each atomic site and weaker order that the kernels reach:
 * the first kernel that fails with it, how, and after how many runs.
 *
 * in:      argv, the words that were typed
 * returns: CLI_OK even if no kernel notices some weaker orders, which need not
 *          be a mistake; CLI_USAGE if no kernel has the name that was given
 */
enum cli_exit cli_explore_mutants(const struct cli_explore_words *words,
                                  int argc, char *const *argv);

#endif
