/*
 * map.h -- a hash map from 64-bit keys to 64-bit values, and numbers for texts.
 * If there is no memory, the process ends with one line.
 *
 * Open addressing; key 0 is not a key. Removed keys stay until the next growth.
 */
#ifndef RECORD_SYMBOLS_MAP_H
#define RECORD_SYMBOLS_MAP_H

#include <stddef.h>
#include <stdint.h>

#define CLI_MAP_NONE UINT64_MAX

/* All zero is an empty map. */
struct cli_map {
    uint64_t *keys;
    uint64_t *values; /* CLI_MAP_NONE: removed */
    size_t room;      /* a power of two, or 0 */
    size_t used;      /* keys, removed ones included */
};

/* returns: the value, or CLI_MAP_NONE */
uint64_t cli_map_get(const struct cli_map *map, uint64_t key);

/* Set a value; CLI_MAP_NONE removes the key. */
void cli_map_put(struct cli_map *map, uint64_t key, uint64_t value);

void cli_map_release(struct cli_map *map);

/* Texts, each once, numbered in the order of their first appearance. */
struct cli_strings {
    char **texts;
    size_t count;
    size_t room;
    struct cli_map by_hash;
};

/* returns: the number of a text, which is copied if it is new */
size_t cli_strings_number(struct cli_strings *strings, const char *text);
void cli_strings_release(struct cli_strings *strings);

#endif
