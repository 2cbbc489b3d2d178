/*
 * visited.c -- see visited.h.
 */
#include "visited.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1 << 10 };

bool
sim_visited_init(struct sim_visited *set, uint64_t count_max)
{
    *set = (struct sim_visited){.slots = SLOTS_MIN, .count_max = count_max};
    set->keys = calloc(SLOTS_MIN, sizeof *set->keys);
    return set->keys != NULL;
}

void
sim_visited_close(struct sim_visited *set)
{
    free(set->keys);
    set->keys = NULL;
}

void
sim_visited_clear(struct sim_visited *set)
{
    memset(set->keys, 0, set->slots * sizeof *set->keys);
    set->count = 0;
    set->full = false;
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint64_t
find(uint64_t (*keys)[2], uint64_t slots, uint64_t low, uint64_t high)
{
    uint64_t i = low & (slots - 1);

    while ((keys[i][0] | keys[i][1]) != 0 &&
           (keys[i][0] != low || keys[i][1] != high))
        i = (i + 1) & (slots - 1);
    return i;
}

static bool
grow(struct sim_visited *set)
{
    const uint64_t slots = set->slots * 2;
    uint64_t(*keys)[2] = calloc(slots, sizeof *keys);

    if (keys == NULL)
        return false;
    for (uint64_t i = 0; i < set->slots; i++) {
        const uint64_t low = set->keys[i][0];
        const uint64_t high = set->keys[i][1];

        if ((low | high) != 0) {
            const uint64_t to = find(keys, slots, low, high);

            keys[to][0] = low;
            keys[to][1] = high;
        }
    }
    free(set->keys);
    set->keys = keys;
    set->slots = slots;
    return true;
}

bool
sim_visited_insert(struct sim_visited *set, const uint64_t key[2])
{
    uint64_t i = find(set->keys, set->slots, key[0], key[1]);

    if ((set->keys[i][0] | set->keys[i][1]) != 0)
        return true;
    if (set->count >= set->count_max) {
        set->full = true;
        return false;
    }
    if (set->count >= set->slots / 4 * 3) {
        if (!grow(set)) {
            set->full = true;
            return false;
        }
        i = find(set->keys, set->slots, key[0], key[1]);
    }
    set->keys[i][0] = key[0];
    set->keys[i][1] = key[1];
    set->count++;
    return false;
}

bool
sim_visited_contains(const struct sim_visited *set, const uint64_t key[2])
{
    const uint64_t i = find(set->keys, set->slots, key[0], key[1]);

    return (set->keys[i][0] | set->keys[i][1]) != 0;
}
