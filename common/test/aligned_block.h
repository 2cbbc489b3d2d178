/* aligned_block.h -- memory for an instance, aligned as init functions require.
 */
#ifndef COMMON_TEST_ALIGNED_BLOCK_H
#define COMMON_TEST_ALIGNED_BLOCK_H

#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "common/test/unit_test.h"

/*
 * Allocate a block. Without enough memory the test fails.
 *
 * in:      byte, what the block is filled with
 * returns: at least `bytes`, aligned to PROF_BLOCK_ALIGN; free() it
 */
static inline void *
props_block(size_t bytes, int byte)
{
    const size_t room =
        (bytes + PROF_BLOCK_ALIGN - 1) / PROF_BLOCK_ALIGN * PROF_BLOCK_ALIGN;
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, room);

    assert_non_null(block);
    return memset(block, byte, room);
}

#endif
