/* map.c -- see map.h. At most three quarters full, and as small as it can be at
 * most a quarter full after it has grown. */
#include "map.h"

#include <stdlib.h>
#include <string.h>

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

static bool
grow(struct cli_map *map)
{
    struct cli_map bigger = {0};
    size_t live = 0;
    size_t i;

    for (i = 0; i < map->room; i++)
        live += map->keys[i] != 0 && map->values[i] != CLI_MAP_NONE;
    for (bigger.room = 64; bigger.room < live * 4;)
        bigger.room *= 2;
    bigger.keys = calloc(bigger.room, sizeof *bigger.keys);
    bigger.values = calloc(bigger.room, sizeof *bigger.values);
    if (bigger.keys == NULL || bigger.values == NULL) {
        cli_map_release(&bigger);
        return false;
    }
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
    return true;
}

bool
cli_map_put(struct cli_map *map, uint64_t key, uint64_t value)
{
    size_t slot;

    if (map->used + 1 > map->room / 4 * 3 && !grow(map))
        return false;
    slot = slot_of(map, key);
    map->used += map->keys[slot] == 0;
    map->keys[slot] = key;
    map->values[slot] = value;
    return true;
}

void
cli_map_release(struct cli_map *map)
{
    free(map->keys);
    free(map->values);
    memset(map, 0, sizeof *map);
}
