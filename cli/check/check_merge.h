/*
 * check_merge.h -- the results of the shards of one campaign, added up: in any
 * order, each shard once, whatever the files say that anybody may have written.
 */
#ifndef CLI_CHECK_MERGE_H
#define CLI_CHECK_MERGE_H

#include "report.h"

/*
 * in:      paths, of the results; folder, where they lie
 *          save, the folder for failures; NULL: that of `profsim check`
 * returns: how the whole campaign would have ended; CLI_INCOMPLETE if nothing
 *          failed and a part is missing; CLI_USAGE after a complaint about each
 *          file that does not belong here
 */
enum cli_exit cli_check_merge(char *const *paths, uint32_t paths_count,
                              const char *folder, const char *save,
                              struct cli_report *report);

#endif
