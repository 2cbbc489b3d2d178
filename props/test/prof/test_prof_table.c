/*
 * test_prof_table.c -- the bucket table (white box): which events share a
 * bucket, which resource runs out and when, equal hashes, the last slots.
 */
#include <string.h>

#include "group.h"
#include "hash.h"
#include "instance.h"
#include "slot.h"
#include "test_prof_make.h"
#include "unit_test.h"

#define BUCKETS         64U
#define DEPTH           6U
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static struct prof *prof;

static int
a_table(void **state)
{
    const struct prof_config config = {.buckets_max = BUCKETS,
                                       .depth_max = DEPTH};

    (void)state;
    prof = props_prof_make(&config);
    return 0;
}

/* With GO_64 a test can compute the hashes itself. */
static int
a_little_table_of_go(void **state)
{
    const struct prof_config config = {.hash = PROF_HASH_GO_64,
                                       .buckets_max = GROUP + 2};

    (void)state;
    prof = props_prof_make(&config);
    return 0;
}

static int
a_table_of_go(void **state)
{
    const struct prof_config config = {.hash = PROF_HASH_GO_64,
                                       .buckets_max = BUCKETS};

    (void)state;
    prof = props_prof_make(&config);
    return 0;
}

static int
whole(void **state)
{
    (void)state;
    props_prof_drop(prof);
    return 0;
}

static uint32_t
heap_row(const uintptr_t *frames, uint32_t depth, uint64_t size_bytes)
{
    return prof_table_intern(&prof->table, KIND_HEAP, frames, depth,
                             size_bytes);
}

static uint32_t
rows(void)
{
    return prof_table_rows(&prof->table);
}

TEST_WITH(a_table, whole, the_same_stack_twice_shares_one_bucket)
{
    const uintptr_t once[] = {1, 2, 3};
    const uintptr_t again[] = {1, 2, 3};

    assert_int_equal(heap_row(once, 3, 8), 1);
    assert_int_equal(heap_row(again, 3, 8), 1);
    assert_int_equal(rows(), 1);
}

TEST_WITH(a_table, whole, an_entry_keeps_its_own_copy_of_the_stack)
{
    uintptr_t frames[] = {1, 2, 3};
    const uint32_t row = heap_row(frames, 3, 8);
    const struct bucket bucket = prof_table_bucket(&prof->table, row);

    memset(frames, 0, sizeof frames);
    if (bucket.entry == NULL) {
        fail();
        return;
    }
    assert_int_equal(bucket.frames[0], 1);
    assert_int_equal(bucket.frames[1], 2);
    assert_int_equal(bucket.frames[2], 3);
    assert_int_equal(bucket.entry->depth, 3);
    assert_int_equal(bucket.entry->size_bytes, 8);
    assert_int_equal(bucket.entry->kind, KIND_HEAP);
}

TEST_WITH(a_table, whole, size_tells_buckets_apart)
{
    static const uint64_t sizes[] = {
        0, 1, 8, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    const uintptr_t frame = 1;

    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT_OF(sizes); i++)
            assert_int_equal(heap_row(&frame, 1, sizes[i]), i + 1);
    }
}

/* The kind is not part of the hash, so these three share their home slots. */
TEST_WITH(a_table, whole, kind_tells_buckets_apart)
{
    const uintptr_t frame = 1;

    for (int round = 0; round < 2; round++) {
        for (uint32_t kind = KIND_HEAP; kind <= KIND_MUTEX; kind++)
            assert_int_equal(prof_table_intern(&prof->table,
                                               (enum bucket_kind)kind, &frame,
                                               1, 0),
                             kind);
    }
}

TEST_WITH(a_table, whole, a_bucket_of_contention_is_of_its_kind_and_of_no_size)
{
    const uintptr_t frame = 1;

    prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, &frame, 1, 5);
    prof_contention_event(prof_proc_at(prof, 0), PROF_MUTEX, &frame, 1, 5);
    for (uint32_t row = 1; row <= 2; row++) {
        const struct entry *entry = prof_table_bucket(&prof->table, row).entry;

        assert_int_equal(entry->kind, row == 1 ? KIND_BLOCK : KIND_MUTEX);
        assert_int_equal(entry->size_bytes, 0);
    }
}

TEST_WITH(a_table, whole, depth_tells_buckets_apart)
{
    const uintptr_t frames[DEPTH] = {0}; /* each a prefix of the next */

    for (int round = 0; round < 2; round++) {
        for (uint32_t depth = 0; depth <= DEPTH; depth++)
            assert_int_equal(heap_row(frames, depth, 8), depth + 1);
    }
}

TEST_WITH(a_table, whole, each_frame_tells_buckets_apart)
{
    uintptr_t frames[DEPTH] = {0};

    assert_int_equal(heap_row(frames, DEPTH, 8), 1);
    for (uint32_t i = 0; i < DEPTH; i++) {
        frames[i] = (uintptr_t)1 << 63; /* a bit above the lower 32 */
        assert_int_equal(heap_row(frames, DEPTH, 8), i + 2);
        frames[i] = 0;
    }
}

TEST_WITH(a_table, whole, what_is_deeper_than_the_limit_is_cut_off)
{
    uintptr_t frames[DEPTH + 2] = {0};

    for (uint32_t depth = DEPTH; depth <= DEPTH + 2; depth++) {
        frames[DEPTH + 1] = depth;
        assert_int_equal(heap_row(frames, depth, 8), 1);
    }
    assert_int_equal(prof_table_bucket(&prof->table, 1).entry->depth, DEPTH);
    frames[DEPTH - 1] = 1;
    assert_int_equal(heap_row(frames, DEPTH + 2, 8), 2);
}

TEST(a_limit_of_0_keeps_32_frames)
{
    const struct prof_config config = {.buckets_max = 4};
    struct prof *by_default = props_prof_make(&config);
    uintptr_t frames[40] = {0};

    for (uint32_t depth = 31; depth <= 33; depth++) {
        const uint32_t kept = depth < 32 ? depth : 32;
        const uint32_t row =
            prof_table_intern(&by_default->table, KIND_HEAP, frames, depth, 8);

        assert_int_equal(row, kept - 30);
        assert_int_equal(
            prof_table_bucket(&by_default->table, row).entry->depth, kept);
    }
    props_prof_drop(by_default);
}

TEST_WITH(a_table, whole, the_empty_stack_is_a_stack)
{
    const uintptr_t unread = 1;

    assert_int_equal(heap_row(NULL, 0, 16), 1);
    assert_int_equal(heap_row(&unread, 0, 16), 1);
    assert_int_equal(heap_row(NULL, 0, 0), 2);
    assert_int_equal(prof_table_bucket(&prof->table, 1).entry->depth, 0);
}

TEST_WITH(a_table, whole, buckets_run_out_exactly_and_drops_are_counted)
{
    for (uintptr_t frame = 1; frame <= BUCKETS; frame++)
        assert_int_equal(heap_row(&frame, 1, 8), frame);
    for (uintptr_t frame = 1; frame <= 2 * BUCKETS; frame++)
        assert_int_equal(heap_row(&frame, 1, 8), frame <= BUCKETS ? frame : 0);
    assert_int_equal(rows(), BUCKETS);
    assert_int_equal(prof_drops(prof).no_bucket, BUCKETS);
    assert_int_equal(prof_drops(prof).no_frames, 0);
}

/* With each limit on buckets the same steps, in which each stack comes
 * twice. */
TEST(whatever_the_limit_recorded_and_dropped_are_what_was_offered)
{
    enum { STACKS = 24 };

    for (uint32_t limit = 1; limit <= STACKS + 1; limit++) {
        const uint32_t kept = limit < STACKS ? limit : STACKS;
        const struct prof_config config = {.buckets_max = limit};
        struct prof *small = props_prof_make(&config);
        struct prof_heap_totals totals;

        for (uintptr_t i = 0; i < 2 * STACKS; i++) {
            const uintptr_t frame = i % STACKS;

            (void)prof_heap_alloc(prof_proc_at(small, 0), &frame, 1, 8);
        }
        totals = prof_heap_totals(small);
        assert_int_equal(totals.allocs_pending, 2 * kept);
        assert_int_equal(prof_drops(small).no_bucket, 2 * (STACKS - kept));
        assert_int_equal(totals.allocs_pending + prof_drops(small).no_bucket,
                         2 * STACKS);
        props_prof_drop(small);
    }
}

TEST_WITH(a_table, whole, frames_run_out_exactly_and_drops_are_counted)
{
    const struct prof_config config = {.buckets_max = BUCKETS,
                                       .frames_max = 10};
    const uintptr_t frames[] = {1, 2, 3, 4};
    struct prof *small = props_prof_make(&config);
    struct table *table = &small->table;

    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 4, 1), 1);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 4, 2), 2);
    /* Two frames are left: not enough for four or three, enough for none and
     * for two. */
    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 4, 3), 0);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 3, 3), 0);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, NULL, 0, 3), 3);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 2, 3), 4);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 1, 3), 0);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, NULL, 0, 4), 5);
    assert_int_equal(prof_table_intern(table, KIND_HEAP, frames, 4, 2), 2);
    assert_int_equal(prof_drops(small).no_frames, 3);
    assert_int_equal(prof_drops(small).no_bucket, 0);
    props_prof_drop(small);
}

TEST_WITH(a_table_of_go, whole, stacks_with_one_hash_keep_apart)
{
    uintptr_t frames[20][2] = {{0x401000, 0x402000}};
    const uint64_t hash = prof_hash_stack(PROF_HASH_GO_64, frames[0], 2, 8);

    for (uint32_t i = 1; i < COUNT_OF(frames); i++) {
        props_prof_collide(frames[i], frames[i - 1]);
        assert_true(prof_hash_stack(PROF_HASH_GO_64, frames[i], 2, 8) == hash);
    }
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT_OF(frames); i++)
            assert_int_equal(heap_row(frames[i], 2, 8), i + 1);
    }
    for (uint32_t i = 0; i < COUNT_OF(frames); i++)
        assert_memory_equal(prof_table_bucket(&prof->table, i + 1).frames,
                            frames[i], sizeof frames[i]);
}

/* Find the next one-frame stack after `frame` whose home is in `group`. */
static uintptr_t
frame_of_group(uintptr_t frame, uint64_t group)
{
    for (uint32_t tries = 0; tries < 100000; tries++) {
        frame++;
        if (home(&prof->table, prof_hash_stack(PROF_HASH_GO_64, &frame, 1,
                                               8)) == group * GROUP)
            return frame;
    }
    fail_msg("no stack is of group %u", (unsigned)group);
    return 0;
}

TEST_WITH(a_little_table_of_go, whole,
          a_probe_goes_on_from_the_last_slot_to_the_first)
{
    const uint64_t slots = UINT64_C(1) << prof->table.slots_log2;
    uintptr_t at_end[GROUP + 1];
    const uintptr_t at_start = frame_of_group(0, 0);

    assert_int_equal(slots, 2 * GROUP);
    at_end[0] = frame_of_group(0, 1);
    for (uint32_t i = 1; i < COUNT_OF(at_end); i++)
        at_end[i] = frame_of_group(at_end[i - 1], 1);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT_OF(at_end); i++)
            assert_int_equal(heap_row(&at_end[i], 1, 8), i + 1);
        /* Its group begins with slot 0, which the eighth stack above took. */
        assert_int_equal(heap_row(&at_start, 1, 8), GROUP + 2);
    }
    for (uint64_t i = 0; i < slots; i++)
        assert_int_equal(load_relaxed(&prof->table.slots[i]) != 0,
                         i < 2 || i >= GROUP);
}

/* Each table keeps an empty slot, so that an unsuccessful lookup ends. */
TEST(a_full_table_still_answers_that_a_stack_is_missing)
{
    for (uint32_t limit = 1; limit < 40; limit++) {
        const struct prof_config config = {.buckets_max = limit};
        struct prof *small = props_prof_make(&config);
        uint32_t used = 0;

        for (uintptr_t frame = 0; frame < 3 * (uintptr_t)limit; frame++)
            (void)prof_table_intern(&small->table, KIND_HEAP, &frame, 1, 8);
        for (uint64_t i = 0; i >> small->table.slots_log2 == 0; i++)
            used += load_relaxed(&small->table.slots[i]) != 0;
        assert_int_equal(used, limit);
        assert_true(used < UINT64_C(1) << small->table.slots_log2);
        assert_int_equal(prof_drops(small).no_bucket, 2 * limit);
        props_prof_drop(small);
    }
}

TEST_WITH(a_table, whole, a_listing_is_newest_first_and_names_each_bucket_once)
{
    struct prof_heap_record records[BUCKETS];
    size_t count = 0;

    for (uintptr_t i = 0; i < 3 * BUCKETS; i++) {
        const uintptr_t frame = i % BUCKETS + 1;

        (void)prof_heap_alloc(prof_proc_at(prof, 0), &frame, 1, 8);
    }
    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS, &count),
        PROF_OK);
    assert_int_equal(count, BUCKETS);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        assert_int_equal(records[i].stack[0], BUCKETS - i);
        assert_int_equal(records[i].allocs, 3);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
