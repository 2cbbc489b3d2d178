/*
 * group.h -- a line of slots of the bucket table, and the tags in it.
 *
 * The tag is in the upper half of a slot, beside the row (table.c).
 */
#ifndef PROF_CORE_GROUP_H
#define PROF_CORE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/core/atomic.h"

enum { GROUP_LOG2 = 3, GROUP = 1 << GROUP_LOG2 }; /* slots of a line */

/* Does a slot have the tag of a hash? in: tag_mask, its bits in a slot */
static inline bool
has_tag(uint64_t slot, uint64_t hash, uint64_t tag_mask)
{
    return ((slot ^ hash) & tag_mask) == 0;
}

/*
 * Find the slots of a group that have the hash's tag; the result has two bits
 * per slot. It is only a hint: it may miss a slot that another thread is
 * filling, and a match may belong to another stack. So the caller compares the
 * stack of each match, and the walk along the table finds what the hint missed.
 */
#if defined(__SSE2__) && !defined(PROF_THREADS_CHECKED)
typedef uint32_t four_u32 __attribute__((vector_size(16), may_alias));
typedef int32_t four_i32 __attribute__((vector_size(16)));
typedef uint64_t two_u64 __attribute__((vector_size(16)));
typedef char sixteen_bytes __attribute__((vector_size(16)));

/* The upper halves of four slots. */
#define UPPER_HALVES(slots) \
    __builtin_shufflevector((slots)[0], (slots)[1], 1, 3, 5, 7)

static inline uint32_t
find_tagged(const shared_u64 *group, uint64_t hash, uint64_t tag_mask)
{
    const four_u32 *const slots = (const four_u32 *)(const void *)group;
    const four_u32 mask = (four_u32){0} + (uint32_t)(tag_mask >> 32);
    const four_u32 halves = (four_u32)(two_u64){hash};
    const four_u32 tag =
        __builtin_shufflevector(halves, halves, 1, 1, 1, 1) & mask;
    const four_i32 first = (UPPER_HALVES(slots) & mask) == tag;
    const four_i32 last = (UPPER_HALVES(slots + 2) & mask) == tag;

    return (uint32_t)__builtin_ia32_pmovmskb128(
        (sixteen_bytes)__builtin_ia32_packssdw128(first, last));
}
#else
/* Finds only the first such slot, and none behind an empty slot. */
static inline uint32_t
find_tagged(const shared_u64 *group, uint64_t hash, uint64_t tag_mask)
{
    for (uint32_t i = 0; i < GROUP; i++) {
        const uint64_t slot = load_relaxed(&group[i]); /* a hint */

        if (slot == 0)
            break;
        if (has_tag(slot, hash, tag_mask))
            return 3U << 2 * i;
    }
    return 0;
}
#endif

/* in: tagged, from find_tagged(), not 0. returns: the first slot with the tag
 */
static inline const shared_u64 *
first_tagged(const shared_u64 *group, uint32_t tagged)
{
    return &group[(uint32_t)__builtin_ctz(tagged) / 2];
}

#endif
