/*
 * trace_map.h -- maps 64-bit numbers to the indexes 0, 1, 2, ... in the order
 * of their first appearance.
 *
 * A trace names goroutines, processors and stacks by 64-bit numbers that the
 * file chooses. The map is a digital search tree: each node holds one key, and
 * on the way down two bits of the scrambled key choose the next child. A key
 * has 64 bits, so no path is longer than 33 nodes, whatever the file contains.
 * A hash table has no such bound.
 */
#ifndef MODEL_TRACE_TRACE_MAP_H
#define MODEL_TRACE_TRACE_MAP_H

#include <stdint.h>

#define MODEL_TRACE_ABSENT UINT32_MAX

struct model_trace_node {
    uint64_t key;
    uint32_t child[4]; /* 0: none, since the root is no child */
};

struct model_trace_map { /* all zeros is an empty map */
    struct model_trace_node *nodes;
    uint32_t count; /* keys; a key has the index of its node */
    uint32_t room;
};

/* returns: the index of the key, or MODEL_TRACE_ABSENT */
uint32_t model_trace_map_find(const struct model_trace_map *map, uint64_t key);

/* returns: the index of the key, new or old; MODEL_TRACE_ABSENT if there is no
 *          memory
 */
uint32_t model_trace_map_put(struct model_trace_map *map, uint64_t key);

/* Forget all keys, keep the memory. */
void model_trace_map_clear(struct model_trace_map *map);

void model_trace_map_release(struct model_trace_map *map);

/*
 * Make room for one more element in an array that grows by doubling.
 *
 * in:      items, from malloc or NULL; *room elements of item_bytes
 * returns: the array, perhaps moved, with *room > count; NULL if there is no
 *          memory, and `items` is unchanged
 */
void *model_trace_grow(void *items, uint32_t count, uint32_t *room,
                       uint64_t item_bytes);

#endif
