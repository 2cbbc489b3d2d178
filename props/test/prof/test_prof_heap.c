/*
 * test_prof_heap.c -- the heap profile: which events share a bucket, and what
 * the functions that read a profile promise: short buffers, the first snapshot,
 * the filter, PROF_ERR_BUSY. When an event shows, random worlds judge.
 */
#include <string.h>

#include "test_prof_make.h"
#include "unit_test.h"

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

/* Buckets are numbered from 1; those of a second round are the same. */
TEST(a_stack_with_its_size_is_a_bucket)
{
    static const uint64_t sizes[] = {
        0, 1, 8, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    struct prof *prof = ruled(NULL);
    struct prof_proc *proc = prof_proc_at(prof, 0);
    struct prof_heap_record records[BUCKETS];

    for (int round = 0; round < 2; round++) {
        uintptr_t frames[DEPTH + 2] = {0};
        prof_bucket want = 0;

        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            assert_int_equal(prof_heap_alloc(proc, frames, 1, sizes[i]),
                             ++want);
        /* Each stack begins the next one. */
        for (uint32_t depth = 2; depth <= DEPTH; depth++)
            assert_int_equal(prof_heap_alloc(proc, frames, depth, 8), ++want);
        for (uint32_t depth = DEPTH; depth <= DEPTH + 2; depth++) {
            frames[DEPTH + 1] = depth; /* beyond what is kept */
            assert_int_equal(prof_heap_alloc(proc, frames, depth, 8), want);
        }
        for (uint32_t i = 0; i < DEPTH; i++) {
            frames[i] = (uintptr_t)1 << 63; /* a bit above the lower 32 */
            assert_int_equal(prof_heap_alloc(proc, frames, DEPTH, 8), ++want);
            frames[i] = 0;
        }
        assert_int_equal(prof_heap_alloc(proc, NULL, 0, 8), ++want);
        memset(frames, 0xff, sizeof frames); /* the buckets have copies */
    }
    assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 18);
    assert_int_equal(records[0].depth, 0);
    assert_int_equal(records[7].depth, DEPTH);
    assert_int_equal(records[7].stack[0], 0);
    assert_int_equal(records[17].size_bytes, 0);
    props_prof_drop(prof);
}

TEST(kinds_of_events_have_buckets_of_their_own)
{
    struct prof *prof = ruled(NULL);
    struct prof_contention_record record;
    struct prof_heap_record records[BUCKETS];
    size_t count;

    assert_int_equal(alloc(prof, frame, 0), 1);
    prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, &frame, 1, 5);
    prof_contention_event(prof_proc_at(prof, 0), PROF_MUTEX, &frame, 1, 7);
    assert_int_equal(alloc(prof, frame + 1, 0), 4);
    assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 2);
    assert_int_equal(
        prof_contention_snapshot(prof, PROF_MUTEX, &record, 1, &count),
        PROF_OK);
    assert_int_equal(count, 1);
    assert_int_equal(record.cycles, 7);
    props_prof_drop(prof);
}

/* With each limit the same steps, in which each stack comes twice. */
TEST(recorded_and_dropped_events_are_all_there_were)
{
    enum { STACKS = 24 };

    for (uint32_t limit = 1; limit <= STACKS + 1; limit++) {
        const uint32_t kept = limit < STACKS ? limit : STACKS;
        const struct prof_config config = {.buckets_max = limit};
        struct prof *prof = props_prof_make(&config);

        for (uintptr_t i = 0; i < 2 * STACKS; i++)
            assert_int_equal(alloc(prof, i % STACKS, 8),
                             i % STACKS < limit ? i % STACKS + 1 : 0);
        prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, &frame, 1, 5);
        assert_int_equal(prof_heap_totals(prof).allocs_pending, 2 * kept);
        assert_int_equal(prof_drops(prof).no_bucket,
                         2 * (STACKS - kept) + (limit <= STACKS));
        assert_int_equal(prof_drops(prof).no_frames, 0);
        props_prof_drop(prof);
    }
}

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

TEST(a_short_buffer_is_not_touched_and_the_need_is_said)
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

struct visit {
    struct prof *prof;
    uint32_t calls;
};

static void
request_next_cycle(void *context, const struct prof_heap_record *record)
{
    struct visit *visit = context;

    (void)record;
    visit->calls++;
    assert_int_equal(prof_heap_next_cycle(visit->prof), PROF_ERR_BUSY);
}

TEST(next_cycle_amid_a_control_call_is_busy_and_changes_nothing)
{
    static const struct prof_rules *const sets[] = {&prof_rules_exact,
                                                    &prof_rules_go1_5};

    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        struct prof *prof = ruled(sets[i]);
        struct visit visit = {.prof = prof};
        struct prof_heap_totals before;
        struct prof_heap_totals after;

        (void)alloc(prof, 1, 8);
        (void)alloc(prof, 2, 8);
        assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        before = prof_heap_totals(prof);
        prof_heap_iterate(prof, request_next_cycle, &visit);
        after = prof_heap_totals(prof);
        assert_int_equal(visit.calls, 2);
        assert_int_equal(prof_heap_phase(prof).cycle, 1);
        assert_true(prof_heap_phase(prof).flushed);
        assert_memory_equal(&after, &before, sizeof after);
        /* Afterwards the lock is free again. */
        assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
        assert_int_equal(prof_heap_phase(prof).cycle, 2);
        props_prof_drop(prof);
    }
}
