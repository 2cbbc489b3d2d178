/*
 * test_lookup.c -- the two steps of a lookup that handle several words at once:
 * finding tags in a cache line of slots, and comparing frames.
 */
#include <stdalign.h>

#include "compare.h"
#include "group.h"
#include "hash.h"
#include "instance.h"
#include "test_prof_make.h"
#include "unit_test.h"

enum { FRAMES = 40 };

#define TAG_MASK UINT64_C(0xffffc00000000000) /* the upper 18 bits */
#define HASH     UINT64_C(0x0123456789abcdef)

/* Make a slot that has the hash's tag, and other bits below it. */
static uint64_t
slot_of_tag(uint64_t hash, uint32_t i)
{
    return (hash & TAG_MASK) | (uint64_t)(i + 1) << 32 | (i + 8);
}

TEST(a_tag_is_found_in_each_slot)
{
    alignas(64) shared_u64 group[GROUP];

    for (uint32_t at = 0; at < GROUP; at++) {
        /* All slots have tags that differ in one bit, the lowest or the
         * highest. */
        for (uint32_t i = 0; i < GROUP; i++)
            store_relaxed(&group[i], slot_of_tag(HASH, i) ^
                                         (i % 2 != 0 ? UINT64_C(1) << 46
                                                     : UINT64_C(1) << 63));
        assert_int_equal(find_tagged(group, HASH, TAG_MASK), 0);
        store_relaxed(&group[at], slot_of_tag(HASH, at));
        assert_int_equal(find_tagged(group, HASH, TAG_MASK), 3U << 2 * at);
    }
}

TEST(the_first_of_several_is_the_lowest_bit)
{
    alignas(64) shared_u64 group[GROUP];
    uint32_t found;

    for (uint32_t i = 0; i < GROUP; i++)
        store_relaxed(&group[i], slot_of_tag(i < 3 ? ~HASH : HASH, i));
    found = find_tagged(group, HASH, TAG_MASK);
    assert_ptr_equal(first_tagged(group, found), &group[3]);
    assert_true(found < 1U << 2 * GROUP);
}

TEST(each_frame_counts_at_each_depth)
{
    uintptr_t a[FRAMES + 2];
    uintptr_t b[FRAMES + 2];

    for (uint32_t depth = 0; depth <= FRAMES; depth++) {
        for (uint32_t from = 0; from < 2; from++) {
            for (uint32_t i = 0; i < FRAMES + 2; i++)
                a[i] = b[i] = 0x401000 + i;
            /* Frames before and after the compared ones do not count. */
            b[from + depth] ^= 1;
            if (from > 0)
                b[0] ^= 1;
            assert_true(are_equal(&a[from], &b[from], depth));
            if (depth <= HASH_BLOCK)
                assert_true(are_few_equal(&a[from], &b[from], depth));
            for (uint32_t i = from; i < from + depth; i++) {
                b[i] ^= UINTPTR_MAX / 2 + 1;
                assert_false(are_equal(&a[from], &b[from], depth));
                if (depth <= HASH_BLOCK)
                    assert_false(are_few_equal(&a[from], &b[from], depth));
                b[i] ^= UINTPTR_MAX / 2 + 1;
            }
        }
    }
}

/*
 * Two frames whose factors in the hash are p and q are changed by d and -e,
 * with p d = q e. So the stacks have the same hash, and thus the same tag and
 * home slot. In stacks of a whole block or more these are frames 8 and 9, in
 * the middle of the block.
 */
TEST(stacks_with_one_hash_keep_apart)
{
    static const uint32_t depths[] = {8, 9, 15, HASH_BLOCK, 2 * HASH_BLOCK + 1};

    for (size_t at = 0; at < sizeof depths / sizeof *depths; at++) {
        const struct prof_config config = {
            .buckets_max = 8, .depth_max = FRAMES, .frames_max = 8 * FRAMES};
        struct prof *prof = props_prof_make(&config);
        uintptr_t frames[FRAMES];
        const uint32_t depth = depths[at];
        const bool is_block = depth >= HASH_BLOCK;

        for (uint32_t i = 0; i < depth; i++)
            frames[i] = 0x401000 + 16 * i;
        for (uint32_t row = 1; row <= 8; row++) {
            const uint64_t hash = prof_hash_multilinear(frames, depth, 8);

            for (int round = 0; round < 2; round++)
                assert_int_equal(prof_table_intern(&prof->table, KIND_HEAP,
                                                   frames, depth, 8),
                                 row);
            frames[is_block ? 8 : 0] += is_block ? HASH_P9 : HASH_P1;
            frames[is_block ? 9 : 1] -= is_block ? HASH_P8 : HASH_P0;
            assert_true(hash == prof_hash_multilinear(frames, depth, 8));
        }
        props_prof_drop(prof);
    }
}

/* The faster function for short stacks gives the same hash. */
TEST(the_short_hash_is_the_hash)
{
    uintptr_t frames[HASH_BLOCK];

    for (uint32_t depth = 0; depth <= HASH_BLOCK; depth++) {
        for (uint32_t i = 0; i < depth; i++)
            frames[i] = 0x7f0000401000 + 64 * i * depth;
        assert_true(prof_hash_multilinear_few(frames, depth, 24) ==
                    prof_hash_stack(PROF_HASH_MULTILINEAR, frames, depth, 24));
    }
}

/* Depth, limit and hash decide whether a stack is looked up by the faster way
 * for short stacks; either way it must be found. */
TEST(stacks_of_all_depths_are_found_again)
{
    static const uint32_t limits[] = {1, 15, 16, 17, FRAMES};
    uintptr_t frames[FRAMES];

    for (uint32_t i = 0; i < FRAMES; i++)
        frames[i] = 0x401000 + 16 * i;
    for (uint32_t hash = 0; hash < PROF_HASH_COUNT; hash++) {
        for (size_t at = 0; at < sizeof limits / sizeof *limits; at++) {
            const uint32_t limit = limits[at];
            const struct prof_config config = {.buckets_max = FRAMES + 1,
                                               .frames_max = FRAMES * FRAMES,
                                               .depth_max = limit,
                                               .hash = (enum prof_hash)hash};
            struct prof *prof = props_prof_make(&config);

            for (uint32_t depth = 0; depth <= FRAMES; depth++) {
                const uint32_t kept = depth < limit ? depth : limit;

                for (int round = 0; round < 2; round++)
                    assert_int_equal(prof_table_intern(&prof->table, KIND_HEAP,
                                                       frames, depth, 8),
                                     kept + 1);
            }
            assert_null(prof_check(prof));
            props_prof_drop(prof);
        }
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
