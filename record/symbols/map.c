/* map.c -- see map.h. At most three quarters full, and as small as it can be at
 * most a quarter full after it has grown. */
#include "record/symbols/map.h"

#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"

static size_t
slot_of(const struct cli_map *map, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20);

    for (slot &= map->room - 1; map->keys[slot] != 0 && map->keys[slot] != key;)
        slot = (slot + 1) & (map->room - 1);
    return slot;
}

uint64_t
cli_map_get(const struct cli_map *map, uint64_t key)
{
    size_t slot;

    if (map->room == 0 || key == 0)
        return CLI_MAP_NONE;
    slot = slot_of(map, key);
    return map->keys[slot] == key ? map->values[slot] : CLI_MAP_NONE;
}

static void
grow(struct cli_map *map)
{
    struct cli_map bigger = {0};
    size_t live = 0;
    size_t i;

    for (i = 0; i < map->room; i++)
        live += map->keys[i] != 0 && map->values[i] != CLI_MAP_NONE;
    for (bigger.room = 64; bigger.room < live * 4;)
        bigger.room *= 2;
    bigger.keys = cli_need(calloc(bigger.room, sizeof *bigger.keys));
    bigger.values = cli_need(calloc(bigger.room, sizeof *bigger.values));
    for (i = 0; i < map->room; i++) {
        size_t slot;

        if (map->keys[i] == 0 || map->values[i] == CLI_MAP_NONE)
            continue;
        slot = slot_of(&bigger, map->keys[i]);
        bigger.keys[slot] = map->keys[i];
        bigger.values[slot] = map->values[i];
    }
    bigger.used = live;
    cli_map_release(map);
    *map = bigger;
}

void
cli_map_put(struct cli_map *map, uint64_t key, uint64_t value)
{
    size_t slot;

    if (map->used + 1 > map->room / 4 * 3)
        grow(map);
    slot = slot_of(map, key);
    map->used += map->keys[slot] == 0;
    map->keys[slot] = key;
    map->values[slot] = value;
}

void
cli_map_release(struct cli_map *map)
{
    free(map->keys);
    free(map->values);
    memset(map, 0, sizeof *map);
}

size_t
cli_strings_number(struct cli_strings *strings, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    for (hash |= 1;; hash += 2) {
        const uint64_t known = cli_map_get(&strings->by_hash, hash);

        if (known == CLI_MAP_NONE)
            break;
        if (strcmp(strings->texts[known], text) == 0)
            return (size_t)known;
    }
    if (strings->count == strings->room) {
        strings->room = strings->room * 2 + 64;
        strings->texts = cli_need(
            realloc(strings->texts, strings->room * sizeof *strings->texts));
    }
    strings->texts[strings->count] = cli_need(strdup(text));
    cli_map_put(&strings->by_hash, hash, strings->count);
    return strings->count++;
}

void
cli_strings_release(struct cli_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->texts[i]);
    free(strings->texts);
    cli_map_release(&strings->by_hash);
    memset(strings, 0, sizeof *strings);
}
