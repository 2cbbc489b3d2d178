/* explore_mutants.h -- weaken each memory order; which kernel notices? */
#ifndef CLI_EXPLORE_MUTANTS_H
#define CLI_EXPLORE_MUTANTS_H

#include "exit.h"
#include "registry.h"
#include "report.h"
#include "shard.h"

struct cli_mutant_options {
    const char *only;           /* the one kernel to try; NULL: all */
    struct sim_run_options run; /* limits of each run */
    bool csv;
    struct cli_shard shard; /* count 0: none, all mutants */
    const char *result;     /* where its rows are written; NULL: nowhere */
    struct cli_report *report;
};

/*
 * Print one row for each atomic site and weaker order that the kernels reach:
 * the first kernel that fails with it, how, and after how many runs.
 *
 * returns: CLI_OK even if no kernel notices some weaker orders, which need not
 *          be a mistake; CLI_USAGE if no kernel is called `only`
 */
enum cli_exit cli_explore_mutants(const struct cli_mutant_options *options);

#endif
