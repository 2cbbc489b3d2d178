/*
 * symbol_cache.h -- caches the names found for one process image for the next
 * ones, because most images of a command load the same libraries.
 *
 * A file is identified by its path and build id, an address by its offset from
 * where the file was loaded.
 */
#ifndef CLI_SYMBOL_CACHE_H
#define CLI_SYMBOL_CACHE_H

#include <stdint.h>

#include "symbols.h"

struct cli_symbol_cache; /* opaque */

/* returns: NULL if there is no memory */
struct cli_symbol_cache *cli_symbol_cache_open(void);

/* NULL is allowed. */
void cli_symbol_cache_close(struct cli_symbol_cache *cache);

/* returns: the file's number, 0 if its names are not cached because it has no
 * build id */
uint32_t cli_symbol_cache_file(struct cli_symbol_cache *cache, const char *path,
                               const uint8_t *id, uint32_t id_bytes);

/*
 * out:     found, room for CLI_SYMBOLS_MAX; texts are the cache's
 * returns: how many, 0 if the address was not looked up before
 */
uint32_t cli_symbol_cache_get(const struct cli_symbol_cache *cache,
                              uint32_t file, uint64_t offset,
                              struct cli_symbol *found);

/* Store what was found; without memory it is not stored. */
void cli_symbol_cache_put(struct cli_symbol_cache *cache, uint32_t file,
                          uint64_t offset, const struct cli_symbol *found,
                          uint32_t count);

#endif
