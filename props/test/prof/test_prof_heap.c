/*
 * test_prof_heap.c -- the heap profile: which events share a bucket, and when a
 * snapshot shows them, with results worked out by hand.
 *
 * A case is a line of steps. A step is a letter, and what is published after
 * it. That follows from docs/semantics.md: the flush of cycle n + 2 publishes
 * the allocations of cycle n, the flush of n + 1 the frees swept in n.
 */
#include <string.h>

#include "test_prof_make.h"
#include "unit_test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { BUCKETS = 64, DEPTH = 6 };

static const uintptr_t frame = 0x401000;

static struct prof *
ruled(const struct prof_rules *rules, uint32_t cycle)
{
    const struct prof_config config = {.rules = rules,
                                       .buckets_max = BUCKETS,
                                       .depth_max = DEPTH,
                                       .cycle_first = cycle};

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
    struct prof *prof = ruled(NULL, 0);
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
    struct prof *prof = ruled(NULL, 0);
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

/* Stacks of all depths on both sides of where the hash takes another path, with
 * each hash and several limits. */
TEST(stacks_of_all_depths_are_found_again)
{
    enum { FRAMES = 40 };
    static const uint32_t limits[] = {1, 15, 16, 17, 32, FRAMES};
    uintptr_t frames[FRAMES];

    for (uint32_t i = 0; i < FRAMES; i++)
        frames[i] = 0x401000 + 16 * i;
    for (uint32_t row = 0; row < PROF_HASH_COUNT * COUNT_OF(limits); row++) {
        const uint32_t limit = limits[row / PROF_HASH_COUNT];
        const struct prof_config config = {
            .buckets_max = FRAMES + 1,
            .frames_max = FRAMES * FRAMES,
            .depth_max = limit == 32 ? 0 : limit, /* 32 by default */
            .hash = (enum prof_hash)(row % PROF_HASH_COUNT)};
        struct prof *prof = props_prof_make(&config);

        for (uint32_t depth = 0; depth <= FRAMES; depth++) {
            for (int round = 0; round < 2; round++)
                assert_int_equal(
                    prof_heap_alloc(prof_proc_at(prof, 0), frames, depth, 8),
                    (depth < limit ? depth : limit) + 1);
        }
        props_prof_drop(prof);
    }
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

/* ---- phases ---- */

enum step {
    ALLOC = 'a',
    FREE = 'f',     /* found dead, swept */
    EXPLICIT = 'e', /* freed by the program */
    NEXT = 'n',     /* mark termination */
    FLUSH = 'F',
    POST = 'p',
    SNAPSHOT = 's'
};

struct line {
    enum step step;
    uint64_t allocs; /* published in all after the step */
    uint64_t frees;
};

/* The published counts; reading them publishes nothing. */
static void
see(void *context, const struct prof_heap_record *record)
{
    struct prof_heap_record *seen = context;

    if (record->stack[0] == frame)
        *seen = *record;
}

static void
take(struct prof *prof, enum step step, prof_bucket *bucket)
{
    struct prof_heap_record records[BUCKETS];

    if (step == ALLOC)
        *bucket = alloc(prof, frame, 8);
    else if (step == FREE)
        prof_heap_free(prof_proc_at(prof, 0), *bucket);
    else if (step == EXPLICIT)
        prof_heap_free_explicit(prof_proc_at(prof, 0), *bucket);
    else if (step == SNAPSHOT)
        (void)snapshot(prof, PROF_SELECT_ALL, records);
    else
        assert_int_equal(step == NEXT    ? prof_heap_next_cycle(prof)
                         : step == FLUSH ? prof_heap_flush(prof)
                                         : prof_heap_post_sweep(prof),
                         PROF_OK);
}

static void
play(struct prof *prof, const struct line *lines, size_t count)
{
    prof_bucket bucket = PROF_BUCKET_NONE;

    for (size_t i = 0; i < count; i++) {
        struct prof_heap_record seen = {.allocs = 0};

        take(prof, lines[i].step, &bucket);
        prof_heap_iterate(prof, see, &seen);
        if (seen.allocs != lines[i].allocs || seen.frees != lines[i].frees)
            fail_msg("line %zu (%c): %llu allocs, %llu frees", i,
                     (int)lines[i].step, (unsigned long long)seen.allocs,
                     (unsigned long long)seen.frees);
    }
    props_prof_drop(prof);
}

#define PLAY(prof, ...)                              \
    play((prof), (const struct line[]){__VA_ARGS__}, \
         sizeof((const struct line[]){__VA_ARGS__}) / sizeof(struct line))

/* Each case of the ring begins in several cycles, also where the number takes
 * one more bit and just below the wrap. */
static const uint32_t starts[] = {0,
                                  1,
                                  2,
                                  (1U << 16) - 2,
                                  (1U << 25) - 2,
                                  (1U << 26) - 2,
                                  PROF_CYCLE_WRAP - 3,
                                  PROF_CYCLE_WRAP - 2,
                                  PROF_CYCLE_WRAP - 1};

TEST(ring_an_alloc_shows_two_cycles_later_and_its_free_with_it)
{
    assert_int_equal(PROF_CYCLE_WRAP, 100663296); /* in docs/semantics.md */
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        PLAY(ruled(NULL, starts[i]), {ALLOC, 0, 0}, {ALLOC, 0, 0}, {NEXT, 0, 0},
             {FLUSH, 0, 0}, {FREE, 0, 0}, {NEXT, 0, 0}, {FLUSH, 2, 1},
             {FREE, 2, 1}, {NEXT, 2, 1}, {FLUSH, 2, 2}, {NEXT, 2, 2},
             {FLUSH, 2, 2});
}

/* The second allocation is made after the cycle advanced, so it belongs to the
 * next one. A free after the post-sweep shows at the next flush. */
TEST(ring_post_sweep_shows_the_collection_at_once)
{
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        PLAY(ruled(NULL, starts[i]), {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0},
             {FREE, 0, 0}, {ALLOC, 0, 0}, {POST, 1, 1}, {POST, 1, 1},
             {FREE, 1, 1}, {NEXT, 1, 1}, {FLUSH, 1, 2}, {NEXT, 1, 2},
             {FLUSH, 2, 2});
}

TEST(ring_an_explicit_free_shows_with_allocations_of_its_cycle)
{
    PLAY(ruled(NULL, 0), {ALLOC, 0, 0}, {EXPLICIT, 0, 0}, {POST, 0, 0},
         {NEXT, 0, 0}, {FLUSH, 0, 0}, {ALLOC, 0, 0}, {EXPLICIT, 0, 0},
         {NEXT, 0, 0}, {FLUSH, 1, 1}, {NEXT, 1, 1}, {FLUSH, 2, 2});
}

/* Without one flush events are published by the next flush that reaches their
 * slot. */
TEST(ring_a_missing_flush_delays_and_loses_nothing)
{
    PLAY(ruled(NULL, 0), {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0},
         {NEXT, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0},
         {NEXT, 0, 0}, {FLUSH, 1, 0});
}

/* The first snapshot shows everything; the second only what is due. */
TEST(a_snapshot_publishes_the_slot_of_the_cycle)
{
    PLAY(ruled(NULL, 0), {ALLOC, 0, 0}, {SNAPSHOT, 1, 0}, {ALLOC, 1, 0},
         {SNAPSHOT, 1, 0}, {NEXT, 1, 0}, {SNAPSHOT, 1, 0}, {FREE, 1, 0},
         {NEXT, 1, 0}, {SNAPSHOT, 2, 1}, {FLUSH, 2, 1});
}

/* Flush, post-sweep and all snapshots but the first publish nothing. */
TEST(stages_stopped_show_two_collections_later)
{
    PLAY(ruled(&prof_rules_go1_5, 0), {ALLOC, 0, 0}, {SNAPSHOT, 1, 0},
         {ALLOC, 1, 0}, {FLUSH, 1, 0}, {NEXT, 1, 0}, {FLUSH, 1, 0},
         {FREE, 1, 0}, {POST, 1, 0}, {SNAPSHOT, 1, 0}, {ALLOC, 1, 0},
         {EXPLICIT, 1, 0}, {NEXT, 2, 1}, {FLUSH, 2, 1}, {NEXT, 3, 2});
}

/* golang/go#19311: the free of the second collection is published with the
 * allocations of the first, before its own allocation. */
TEST(stages_restarted_show_a_free_before_its_alloc)
{
    PLAY(ruled(&prof_rules_go1_6_late, 0), {ALLOC, 0, 0}, {SNAPSHOT, 1, 0},
         {NEXT, 1, 0}, {FLUSH, 1, 0}, {NEXT, 1, 0}, {FLUSH, 1, 0},
         {ALLOC, 1, 0}, {NEXT, 1, 0}, {FREE, 1, 0}, {FLUSH, 1, 1},
         {FLUSH, 1, 1}, {NEXT, 1, 1}, {FLUSH, 2, 1});
}

TEST(only_a_flush_sets_flushed_and_each_cycle_clears_it)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        struct prof *prof = ruled(prof_rules_all[i], PROF_CYCLE_WRAP - 2);

        for (uint32_t k = 0; k < 4; k++) {
            static const enum step steps[] = {SNAPSHOT, POST, ALLOC, FREE};
            const uint32_t cycle = (PROF_CYCLE_WRAP - 2 + k) % PROF_CYCLE_WRAP;
            prof_bucket bucket = PROF_BUCKET_NONE;

            for (size_t step = 0; step < COUNT_OF(steps); step++)
                take(prof, steps[step], &bucket);
            assert_int_equal(prof_heap_phase(prof).cycle, cycle);
            assert_false(prof_heap_phase(prof).flushed);
            take(prof, FLUSH, &bucket);
            assert_int_equal(prof_heap_phase(prof).cycle, cycle);
            assert_true(prof_heap_phase(prof).flushed);
            take(prof, NEXT, &bucket);
        }
        props_prof_drop(prof);
    }
}

TEST(rules_without_explicit_frees_drop_and_count_them)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        const uint64_t dropped =
            prof_rules_all[i]->explicit_free == PROF_EXPLICIT_DROPPED ? 2 : 0;
        struct prof *prof = ruled(prof_rules_all[i], 0);
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
