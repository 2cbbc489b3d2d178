/* missing.h -- the shards that are missing from a merge, and the command that
 * runs them. */
#ifndef CLI_MISSING_H
#define CLI_MISSING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Print which shards are missing, and the command that runs only these.
 *
 * in:      asked, the command that was given, quoted for a shell
 *          folder, which has the results
 * returns: the number of missing shards
 */
uint32_t cli_missing_tell(bool (*is_missing)(const void *context,
                                             uint32_t shard),
                          const void *context, uint32_t count,
                          const char *asked, const char *folder);

#endif
