/*
 * index.h -- a hash index: finds the numbers of things by their hash. The
 * things are stored elsewhere, numbered in the order in which they were added.
 * Open addressing, in the caller's memory.
 *
 * The index starts small, stays at most three quarters full, and doubles. So a
 * caller with memory for many things but few of them does not pay for clearing
 * it all.
 */
#ifndef PROF_CORE_INDEX_H
#define PROF_CORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { INDEX_LOG2_MIN = 7 };

struct index {
    uint32_t *slots; /* number + 1 of a thing; 0: empty */
    uint32_t slots_log2;
};

/* returns: how many things 2^slots_log2 slots may hold */
static inline size_t
index_room(uint32_t slots_log2)
{
    return ((size_t)3 << slots_log2) / 4;
}

/* in: slots, memory for the largest size, not cleared */
static inline void
index_begin(struct index *index, uint32_t *slots)
{
    index->slots = slots;
    index->slots_log2 = INDEX_LOG2_MIN;
    memset(slots, 0, sizeof *slots << INDEX_LOG2_MIN);
}

/* The first slot to probe. */
static inline uint32_t
index_home(const struct index *index, uint32_t hash)
{
    return hash >> (32 - index->slots_log2);
}

static inline uint32_t
index_after(const struct index *index, uint32_t slot)
{
    return (slot + 1) & ((1U << index->slots_log2) - 1);
}

/* in: index, with room for one more */
static inline void
index_add(struct index *index, uint32_t hash, uint32_t number)
{
    uint32_t slot = index_home(index, hash);

    while (index->slots[slot] != 0)
        slot = index_after(index, slot);
    index->slots[slot] = number + 1;
}

/*
 * Double an index if one more thing would make it more than three quarters
 * full.
 *
 * returns: whether the caller must add all things again
 */
static inline bool
index_widened(struct index *index, uint32_t count)
{
    if (count < index_room(index->slots_log2))
        return false;
    index->slots_log2++;
    memset(index->slots, 0, sizeof *index->slots << index->slots_log2);
    return true;
}

#endif
