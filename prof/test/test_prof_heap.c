/*
 * test_prof_heap.c -- the heap profile: what finds no room, many events in one
 * call, short buffers, the filter. Buckets, and when an event shows, are judged
 * by random worlds.
 */
#include <string.h>

#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { BUCKETS = 64, DEPTH = 6 };

static const uintptr_t frame = 0x401000;

static struct prof *
ruled(const struct prof_rules *rules)
{
    const struct prof_config config = {
        .rules = rules, .buckets_max = BUCKETS, .depth_max = DEPTH};

    return props_prof_make(&config);
}

static prof_bucket
alloc(struct prof *prof, uintptr_t of, uint64_t size_bytes)
{
    return prof_heap_alloc(prof_proc_at(prof, 0), &of, 1, size_bytes);
}

static size_t
snapshot(struct prof *prof, enum prof_select select,
         struct prof_heap_record records[BUCKETS])
{
    size_t count = 99;

    assert_int_equal(prof_heap_snapshot(prof, select, records, BUCKETS, &count),
                     PROF_OK);
    return count;
}

/* ---- buckets ---- */

TEST(frames_run_out_exactly_and_drops_are_counted)
{
    const struct prof_config config = {.buckets_max = BUCKETS,
                                       .frames_max = 10};
    /* After two stacks of four frames two are left: not enough for four or
     * three, enough for none and for two. */
    static const struct {
        uint32_t depth;
        uint64_t size_bytes;
        prof_bucket want;
    } rows[] = {{4, 1, 1}, {4, 2, 2}, {4, 3, 0}, {3, 3, 0}, {0, 3, 3},
                {2, 3, 4}, {1, 3, 0}, {0, 4, 5}, {4, 2, 2}};
    const uintptr_t frames[] = {1, 2, 3, 4};
    struct prof *prof = props_prof_make(&config);

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(prof_heap_alloc(prof_proc_at(prof, 0), frames,
                                         rows[i].depth, rows[i].size_bytes),
                         rows[i].want);
    assert_int_equal(prof_drops(prof).no_frames, 3);
    assert_int_equal(prof_drops(prof).no_bucket, 0);
    props_prof_drop(prof);
}

/* Stacks of all depths from 0 to more than are kept, and with repeats. The most
 * events are one more than three times as many as are recorded together, and
 * the last find no free bucket. */
TEST(many_allocations_are_one_after_the_other)
{
    enum { EVENTS = 25, DEEPEST = 30 };
    static const uint32_t counts[] = {0, 1, 7, 8, 9, EVENTS};
    uintptr_t frames[EVENTS + DEEPEST];
    struct prof_heap_event events[EVENTS];

    for (size_t i = 0; i < EVENTS + DEEPEST; i++)
        frames[i] = frame + i % 19;
    for (uint32_t i = 0; i < EVENTS; i++)
        events[i] =
            (struct prof_heap_event){&frames[i], i * 7 % DEEPEST, 8 * (i % 2)};
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        const struct prof_config config = {.buckets_max = 20, .depth_max = 27};
        struct prof *one = props_prof_make(&config);
        struct prof *many = props_prof_make(&config);
        prof_bucket buckets[EVENTS + 1];

        for (uint32_t again = 0; again < 2; again++) {
            memset(buckets, 0xff, sizeof buckets);
            prof_heap_alloc_many(prof_proc_at(many, 0), events, counts[k],
                                 buckets);
            for (uint32_t i = 0; i < counts[k]; i++)
                assert_int_equal(
                    buckets[i],
                    prof_heap_alloc(prof_proc_at(one, 0), events[i].stack,
                                    events[i].depth, events[i].size_bytes));
            assert_int_equal(buckets[counts[k]], UINT32_MAX);
        }
        assert_int_equal(prof_heap_totals(many).allocs_pending,
                         prof_heap_totals(one).allocs_pending);
        assert_int_equal(prof_drops(many).no_bucket, prof_drops(one).no_bucket);
        assert_int_equal(prof_drops(many).no_bucket != 0, counts[k] == EVENTS);
        props_prof_drop(one);
        props_prof_drop(many);
    }
}

/* ---- snapshots ---- */

TEST(rules_without_explicit_frees_drop_and_count_them)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        const uint64_t dropped =
            prof_rules_all[i]->explicit_free == PROF_EXPLICIT_DROPPED ? 2 : 0;
        struct prof *prof = ruled(prof_rules_all[i]);
        const prof_bucket bucket = alloc(prof, frame, 8);

        prof_heap_free(prof_proc_at(prof, 0), PROF_BUCKET_NONE);
        prof_heap_free_explicit(prof_proc_at(prof, 0), PROF_BUCKET_NONE);
        prof_heap_free_explicit(prof_proc_at(prof, 0), bucket);
        prof_heap_free_explicit(prof_proc_at(prof, 0), bucket);
        assert_int_equal(prof_drops(prof).no_free_path, dropped);
        assert_int_equal(prof_heap_totals(prof).frees_pending, 2 - dropped);
        props_prof_drop(prof);
    }
}

TEST(a_short_buffer_is_not_touched_and_the_need_is_reported)
{
    struct prof_heap_record records[BUCKETS];
    struct prof_heap_record before[BUCKETS];
    struct prof *prof = ruled(NULL);

    for (uintptr_t i = 1; i <= 3; i++)
        (void)alloc(prof, i, 8);
    memset(records, 0xa5, sizeof records);
    memcpy(before, records, sizeof before);
    for (size_t room = 0; room <= BUCKETS; room++) {
        size_t count = 0;

        assert_int_equal(
            prof_heap_snapshot(prof, PROF_SELECT_ALL, records, room, &count),
            room < 3 ? PROF_ERR_SHORT : PROF_OK);
        assert_int_equal(count, 3);
        if (room < 3)
            assert_memory_equal(records, before, sizeof before);
    }
    /* Nor are the records behind the third touched. */
    assert_memory_equal(&records[3], &before[3],
                        sizeof before - 3 * sizeof *before);
    props_prof_drop(prof);
}

/* The filter compares bytes, as Go's does: 3 objects of 0 bytes are 0 bytes,
 * and so are 2 of 2^63 modulo 2^64. */
TEST(in_use_is_a_matter_of_bytes)
{
    static const struct {
        const char *why;
        uint64_t size_bytes;
        uint64_t allocs;
        size_t want;
    } rows[] = {
        {"objects of no size", 0, 3, 0},
        {"one object of 2^63", UINT64_C(1) << 63, 1, 1},
        {"two objects of 2^63, which is 0", UINT64_C(1) << 63, 2, 0},
        {"a byte", 1, 1, 1},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prof *prof = ruled(NULL);
        struct prof_heap_record records[BUCKETS];

        for (uint64_t k = 0; k < rows[i].allocs; k++)
            (void)alloc(prof, 1, rows[i].size_bytes);
        if (snapshot(prof, PROF_SELECT_INUSE, records) != rows[i].want)
            fail_msg("%s: listed or not", rows[i].why);
        assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 1);
        assert_int_equal(records[0].allocs, rows[i].allocs);
        assert_true(prof_heap_alloc_bytes(&records[0]) ==
                    rows[i].allocs * rows[i].size_bytes);
        props_prof_drop(prof);
    }
}
