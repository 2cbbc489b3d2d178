/*
 * block.h -- the layout of a caller's block: each part begins on a boundary of
 * PROF_BLOCK_ALIGN.
 */
#ifndef PROF_CORE_BLOCK_H
#define PROF_CORE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "prof/prof.h"

/* returns: `bytes` rounded up to the next boundary; 0 if there is none */
static inline size_t
aligned(size_t bytes)
{
    return (bytes + PROF_BLOCK_ALIGN - 1) / PROF_BLOCK_ALIGN * PROF_BLOCK_ALIGN;
}

/* returns: the smallest n, at least 1, with 2^n >= `least`, which is <= 2^31 */
static inline uint32_t
log2_of(uint32_t least)
{
    uint32_t log2 = 1;

    while ((UINT32_C(1) << log2) < least)
        log2++;
    return log2;
}

#endif
