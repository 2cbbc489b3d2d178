/* explore_merge.h -- adds up the results of the shards of one search. */
#ifndef CLI_EXPLORE_MERGE_H
#define CLI_EXPLORE_MERGE_H

#include <stdbool.h>

#include "report.h"

/* returns: does the result of a search begin with this line? */
bool cli_is_explored(const char *first);

/* Merge the results of an exhaustive search; contract as of
 * cli_check_merge(). */
enum cli_exit cli_explore_merge(char *const *paths, uint32_t paths_count,
                                const char *folder, struct cli_report *report);

#endif
