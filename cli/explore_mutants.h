/* explore_mutants.h -- weaken each memory order; which kernel notices? */
#ifndef CLI_EXPLORE_MUTANTS_H
#define CLI_EXPLORE_MUTANTS_H

#include "registry.h"

/*
 * Print one row per atomic site and weaker order that the kernels of a table
 * reach: the first kernel that fails with it, and how.
 *
 * in:      group, a table of kernels over one program
 *          only, the name of the one kernel to try; NULL: all
 *          run, limits of each run
 * out:     *mutants, *found, added to
 * returns: false if `only` is not in the table
 */
bool cli_explore_mutants(const struct sim_kernel_entry *group, const char *only,
                         const struct sim_run_options *run, uint32_t *mutants,
                         uint32_t *found);

#endif
