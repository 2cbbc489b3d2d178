/* check_command.h -- the steps of `profsim check`, for a shard and for a merge.
 */
#ifndef PROPS_COMMAND_CHECK_COMMAND_H
#define PROPS_COMMAND_CHECK_COMMAND_H

#include <stdio.h>

#include "props/command/check_shard.h"

/*
 * `profsim bias --verify`: is sampling right on average?
 *
 * in:      asked, the properties; 0: all
 *          report, which takes the verdict on each
 * returns: the exit code
 */
enum cli_exit cli_check_unbiased(const struct prof_rules *rules,
                                 props_set requested,
                                 struct cli_report *report);

/*
 * Run everything that can be enumerated or measured, and print it as it is
 * found.
 *
 * out:     *found, the worst failure; found->failed is false if there is none;
 *          may be NULL
 * returns: the exit code
 */
enum cli_exit cli_check_enumerated(const struct cli_check_options *options,
                                   struct cli_search *search,
                                   struct props_finding *found);

/*
 * Prepare the campaign of one kind of worlds.
 *
 * out:     *part
 * returns: false if no property asks for them
 */
bool cli_check_part(const struct cli_check_options *options,
                    enum cli_part_kind kind, struct props_campaign *part);

/* returns: do the campaign's worlds have a tracer? */
bool cli_check_is_traced(const struct props_campaign *campaign);

/* Print a line that says what ran: "rules exact: ... log hash ...". */
void cli_check_report(FILE *file, const struct props_campaign *campaign,
                      const struct props_outcome *outcome);

/*
 * Shrink the failure of a seed, print it and save it.
 *
 * out:     *kept, what a shard's result stores of it; may be NULL
 * returns: the exit code
 */
enum cli_exit cli_check_failed(const struct cli_check_options *options,
                               const struct props_campaign *campaign,
                               struct cli_search *search,
                               const struct props_outcome *outcome,
                               struct cli_shard_failure *kept);

#endif
