/* trace_map.c -- see trace_map.h. */
#include "model/trace/trace_map.h"

#include <stdlib.h>

/* Scramble a key by a bijection (odd factor, xor with a shift), so that
 * distinct keys stay distinct.
 */
static uint64_t
scramble(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 32;
}

/* Walk to the key, or to the empty link at which it would be inserted. */
static uint32_t
walk(const struct model_trace_map *map, uint64_t key, uint32_t *parent,
     uint32_t *branch)
{
    uint64_t way = scramble(key);
    uint32_t at = 0;

    for (;;) {
        if (map->nodes[at].key == key)
            return at;
        *parent = at;
        *branch = way & 3;
        way >>= 2;
        at = map->nodes[at].child[*branch];
        if (at == 0)
            return MODEL_TRACE_ABSENT;
    }
}

uint32_t
model_trace_map_find(const struct model_trace_map *map, uint64_t key)
{
    uint32_t parent;
    uint32_t branch;

    if (map->count == 0)
        return MODEL_TRACE_ABSENT;
    return walk(map, key, &parent, &branch);
}

uint32_t
model_trace_map_put(struct model_trace_map *map, uint64_t key)
{
    uint32_t parent = 0;
    uint32_t branch = 0;

    if (map->count > 0) {
        const uint32_t found = walk(map, key, &parent, &branch);
        if (found != MODEL_TRACE_ABSENT)
            return found;
    }

    struct model_trace_node *nodes = model_trace_grow(
        map->nodes, map->count, &map->room, sizeof *map->nodes);
    if (nodes == NULL)
        return MODEL_TRACE_ABSENT;
    map->nodes = nodes;
    nodes[map->count] = (struct model_trace_node){.key = key};
    if (map->count > 0)
        nodes[parent].child[branch] = map->count;
    return map->count++;
}

void
model_trace_map_clear(struct model_trace_map *map)
{
    map->count = 0;
}

void
model_trace_map_release(struct model_trace_map *map)
{
    free(map->nodes);
    *map = (struct model_trace_map){0};
}

void *
model_trace_grow(void *items, uint32_t count, uint32_t *room,
                 uint64_t item_bytes)
{
    if (count < *room)
        return items;
    if (*room > UINT32_MAX / 2)
        return NULL;

    const uint32_t more = *room == 0 ? 64 : *room * 2;
    void *grown = realloc(items, more * item_bytes);
    if (grown != NULL)
        *room = more;
    return grown;
}
