/* result_path.h -- where the result of a shard is written. */
#ifndef CLI_RESULT_PATH_H
#define CLI_RESULT_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "shard.h"

/* Take the value of --result. returns: false, and a complaint, if it is empty
 */
bool cli_result_take(const char **asked, const char *value);

/*
 * Find the path of a result. `asked` names a file or, if it ends in a slash, a
 * folder, which is made if needed. The file in the folder is named after the
 * shard: DIR/shard-3-of-7.result.
 *
 * in:      shard, whose count is 0 without --shard, which means shard 1 of 1
 * out:     path
 * returns: false, and a complaint
 */
bool cli_result_path(const char *asked, struct cli_shard shard, char *path,
                     size_t room);

#endif
