/* check_search.h -- what a search of `profsim check` has shown of each
 * property. */
#ifndef PROPS_COMMAND_CHECK_SEARCH_H
#define PROPS_COMMAND_CHECK_SEARCH_H

#include "props/command/check_options.h"
#include "props/sampling/checker.h"
#include "props/campaign/failure.h"

struct cli_search {
    props_set checked;  /* those that hold, by enumeration or measurement */
    props_set unjudged; /* of these, those of which a checker cannot say it */
    props_set reported; /* their results are in the report already: failures,
                           and properties not applicable to a subject */
    uint64_t cells[PROPS_COUNT];
    struct props_outcome heaps;
    struct props_outcome traces;
    bool heaps_done; /* without a failure */
    bool traces_done;
    bool missing; /* in a merge: some shards are */
};

/* Print which properties cannot be tried on the subject, and why. returns: the
 * properties that can be tried */
props_set cli_search_applicable(const struct cli_check_options *options,
                                struct cli_search *search);

/* returns: the exit code for a checker that failed */
enum cli_exit cli_search_exit(const struct props_finding *finding);

/* Record what a checker found. */
void cli_search_checked(const struct cli_check_options *options,
                        struct cli_search *search,
                        const struct props_finding *finding);

/*
 * Add the failure of a campaign to the report.
 *
 * returns: its result; the caller adds where the failure is saved
 */
struct cli_result *cli_search_failed(const struct cli_check_options *options,
                                     struct cli_search *search,
                                     const struct props_failure *failure,
                                     bool traced, enum cli_exit exit_code);

/*
 * Print the verdict of a search without failures, and add every requested
 * property to the report.
 *
 * in:      exit_code, of the search
 * returns: exit_code, or CLI_INCOMPLETE instead of CLI_OK if something was not
 *          tried that should have been: a property that was named, or any in a
 *          campaign long enough to try it
 */
enum cli_exit cli_search_end(const struct cli_check_options *options,
                             struct cli_search *search,
                             enum cli_exit exit_code);

#endif
