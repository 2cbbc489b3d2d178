/* explore_mutants.h -- weaken each memory order; which kernel notices? */
#ifndef CLI_EXPLORE_MUTANTS_H
#define CLI_EXPLORE_MUTANTS_H

#include "registry.h"

struct cli_mutant_options {
    const char *only;           /* the one kernel to try; NULL: all */
    struct sim_run_options run; /* limits of each run */
    bool csv;
};

/*
 * Print one row per atomic site and weaker order that the kernels of a table
 * reach: the first kernel that fails with it, how, and after how many runs.
 *
 * in:      group, a table of kernels over one program
 * out:     *mutants, *found, added to
 * returns: false if `only` is not in the table
 */
bool cli_explore_mutants(const struct sim_kernel_entry *group,
                         const struct cli_mutant_options *options,
                         uint32_t *mutants, uint32_t *found);

#endif
