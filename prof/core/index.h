/*
 * index.h -- a hash index: from the hash of a thing to its number. The things
 * are stored elsewhere and are numbered in the order in which they came. Open
 * addressing, in the caller's memory.
 *
 * It begins small and doubles, at most three quarters full. So a caller who has
 * memory for many things but meets few does not pay for clearing all of it.
 */
#ifndef PROF_INDEX_H
#define PROF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { INDEX_LOG2_MIN = 7 };

struct index {
    uint32_t *slots; /* number + 1 of what is there, 0: nothing */
    uint32_t slots_log2;
};

/* returns: how many things so many slots hold */
static inline size_t
index_room(uint32_t slots_log2)
{
    return ((size_t)3 << slots_log2) / 4;
}

/* in: slots, memory for as many as there will ever be, not cleared */
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

/* in: the index is not full, nor after this */
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
