/*
 * compare.h -- are the frames of two stacks the same?
 *
 * Short stacks are compared in place, two frames at a time. For them a call of
 * memcmp() would cost more than the comparison, and would force the lookup to
 * save registers. From 17 frames on memcmp() is faster.
 */
#ifndef PROF_CORE_COMPARE_H
#define PROF_CORE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two frames, compared at once; aligned only as one frame is. */
typedef uintptr_t frame_pair
    __attribute__((vector_size(16), aligned(8), may_alias));

/* Add to *differ the bits in which two pairs of frames differ. */
static inline void
differ_2(frame_pair *differ, const uintptr_t *a, const uintptr_t *b)
{
    *differ |= *(const frame_pair *)(const void *)a ^
               *(const frame_pair *)(const void *)b;
}

static inline void
differ_4(frame_pair *differ, const uintptr_t *a, const uintptr_t *b)
{
    differ_2(differ, a, b);
    differ_2(differ, a + 2, b + 2);
}

static inline void
differ_8(frame_pair *differ, const uintptr_t *a, const uintptr_t *b)
{
    differ_4(differ, a, b);
    differ_4(differ, a + 4, b + 4);
}

/* At most HASH_BLOCK frames. Compares the first 2, 4 or 8 and the last, which
 * may overlap. */
static inline bool
are_few_equal(const uintptr_t *a, const uintptr_t *b, size_t depth)
{
    frame_pair differ = {0};

    if (depth >= 8) {
        differ_8(&differ, a, b);
        differ_8(&differ, &a[depth - 8], &b[depth - 8]);
    } else if (depth >= 4) {
        differ_4(&differ, a, b);
        differ_4(&differ, &a[depth - 4], &b[depth - 4]);
    } else if (depth >= 2) {
        differ_2(&differ, a, b);
        differ_2(&differ, &a[depth - 2], &b[depth - 2]);
    } else {
        return depth == 0 || *a == *b;
    }
    return (differ[0] | differ[1]) == 0;
}

static inline bool
are_equal(const uintptr_t *a, const uintptr_t *b, uint32_t depth)
{
    return depth == 0 || memcmp(a, b, depth * sizeof *a) == 0;
}

#endif
