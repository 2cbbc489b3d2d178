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
 * `asked` names a file or a folder. One that ends in a slash is a folder, which
 * is made if needed; the file in it is named after the shard:
 * DIR/shard-3-of-7.result.
 *
 * in:      shard, whose count is 0 without --shard: it is then 1 of 1
 * out:     path
 * returns: false, and a complaint
 */
bool cli_result_path(const char *asked, struct cli_shard shard, char *path,
                     size_t room);

#endif
