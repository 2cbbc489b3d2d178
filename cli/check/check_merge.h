/*
 * check_merge.h -- adds up the results of the shards of one campaign, in any
 * order, each shard once. Anybody may have written the files, so nothing in
 * them is trusted.
 */
#ifndef CLI_CHECK_MERGE_H
#define CLI_CHECK_MERGE_H

#include "report.h"

/*
 * in:      paths, of the results; folder, where they lie
 *          save, the folder for failures; NULL: that of `profsim check`
 * returns: the exit code of the whole campaign; CLI_INCOMPLETE if nothing
 *          failed and a part is missing; CLI_USAGE, after a complaint for each,
 *          if some files do not belong to the campaign
 */
enum cli_exit cli_check_merge(char *const *paths, uint32_t paths_count,
                              const char *folder, const char *save,
                              struct cli_report *report);

#endif
