/* rows_merge.h -- puts the rows of all shards together. */
#ifndef CLI_ROWS_MERGE_H
#define CLI_ROWS_MERGE_H

#include <stdint.h>

#include "report.h"

/*
 * Print all rows in the order of the list, then what is missing.
 *
 * in: paths, of the results in `folder`
 * returns: the exit code of one command for the whole list
 */
enum cli_exit cli_rows_merge(char *const *paths, uint32_t paths_count,
                             const char *folder, struct cli_report *report);

#endif
