/*
 * trace_map.h -- numbers of any size to small dense indexes, in the order of
 * their first appearance.
 *
 * A trace names goroutines, processors and stacks by 64-bit numbers that the
 * file chooses. The map is a digital tree: each node holds one key, and two
 * bits of the scrambled key at a time choose the way down. Two different keys
 * differ in one of 64 bits, so no path is longer than 33 nodes, whatever the
 * file contains. A hash table has no such bound.
 */
#ifndef MODEL_TRACE_MAP_H
#define MODEL_TRACE_MAP_H

#include <stdint.h>

#define MODEL_TRACE_ABSENT UINT32_MAX

struct model_trace_node {
    uint64_t key;
    uint32_t child[4]; /* 0: none; the root is nobody's child */
};

struct model_trace_map { /* all zeros is an empty map */
    struct model_trace_node *nodes;
    uint32_t count; /* keys; the index of a key is its node's */
    uint32_t room;
};

/* returns: the index of the key, or MODEL_TRACE_ABSENT */
uint32_t model_trace_map_find(const struct model_trace_map *map, uint64_t key);

/* returns: the index of the key, new or old; MODEL_TRACE_ABSENT without memory
 */
uint32_t model_trace_map_put(struct model_trace_map *map, uint64_t key);

/* Forget all keys, keep the memory. */
void model_trace_map_clear(struct model_trace_map *map);

void model_trace_map_release(struct model_trace_map *map);

/*
 * Make room for one more element in an array that grows by doubling.
 *
 * in:      items, from malloc or NULL; *room elements of item_bytes
 * returns: the array, perhaps elsewhere, with *room > count; NULL without
 *          memory, then `items` is as it was
 */
void *model_trace_grow(void *items, uint32_t count, uint32_t *room,
                       uint64_t item_bytes);

#endif
