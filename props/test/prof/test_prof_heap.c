/*
 * test_prof_heap.c -- the heap profile phase by phase, with results by hand.
 *
 * A case is a line of steps. A step is a letter, and what is published after
 * it. That follows from docs/semantics.md: the flush of cycle n + 2 publishes
 * the allocations of cycle n, the flush of n + 1 the frees swept in n.
 */
#include <string.h>

#include "instance.h"
#include "test_prof_make.h"
#include "unit_test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define SIZE            8U

static const uintptr_t frame = 0x401000;

/* Stacks of all depths from 0 to more than are kept, and with repeats. The most
 * events are one more than three times as many as are recorded together, and
 * the last find no free bucket. */
TEST(many_allocations_are_one_after_the_other)
{
    enum { EVENTS = 25, DEPTH = 30 };
    static const uint32_t counts[] = {0, 1, 7, 8, 9, EVENTS};
    uintptr_t frames[EVENTS + DEPTH];
    struct prof_heap_event events[EVENTS];

    for (size_t i = 0; i < EVENTS + DEPTH; i++)
        frames[i] = frame + i % 19;
    for (uint32_t i = 0; i < EVENTS; i++)
        events[i] =
            (struct prof_heap_event){&frames[i], i * 7 % DEPTH, 8 * (i % 2)};
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

/* The published counts of a stack's bucket; reading them publishes nothing. */
struct seen {
    uintptr_t frame;
    uint64_t allocs;
    uint64_t frees;
    uint32_t buckets;
};

static void
see(void *context, const struct prof_heap_record *record)
{
    struct seen *seen = context;

    seen->buckets++;
    if (record->stack[0] != seen->frame)
        return;
    seen->allocs = record->allocs;
    seen->frees = record->frees;
}

static struct seen
published(struct prof *prof, uintptr_t of)
{
    struct seen seen = {.frame = of};

    prof_heap_iterate(prof, see, &seen);
    return seen;
}

static struct prof *
ruled_at(const struct prof_rules *rules, uint32_t cycle)
{
    const struct prof_config config = {
        .rules = rules, .buckets_max = 16, .cycle_first = cycle};

    return props_prof_make(&config);
}

static struct prof *
ruled(const struct prof_rules *rules)
{
    return ruled_at(rules, 0);
}

static prof_bucket
alloc(struct prof *prof, uintptr_t of, uint64_t size_bytes)
{
    return prof_heap_alloc(prof_proc_at(prof, 0), &of, 1, size_bytes);
}

static void
next_and_flush(struct prof *prof)
{
    assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
}

/* Publish one allocation, so that the rule of the first snapshot is used up. */
static void
spend_first_snapshot(struct prof *prof)
{
    struct prof_heap_record record;
    size_t count;

    (void)alloc(prof, 0xf1457, SIZE);
    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count), PROF_OK);
    assert_int_equal(record.allocs, 1);
}

static void
take(struct prof *prof, enum step step, prof_bucket *bucket)
{
    struct prof_proc *proc = prof_proc_at(prof, 0);
    struct prof_heap_record records[16];
    size_t count;

    switch (step) {
    case ALLOC:
        *bucket = alloc(prof, frame, SIZE);
        return;
    case FREE:
        prof_heap_free(proc, *bucket);
        return;
    case EXPLICIT:
        prof_heap_free_explicit(proc, *bucket);
        return;
    case NEXT:
        assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
        return;
    case FLUSH:
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        return;
    case POST:
        assert_int_equal(prof_heap_post_sweep(prof), PROF_OK);
        return;
    case SNAPSHOT:
        assert_int_equal(
            prof_heap_snapshot(prof, PROF_SELECT_ALL, records, 16, &count),
            PROF_OK);
        return;
    }
}

static void
tell(struct prof *prof, const struct line *lines, size_t count)
{
    prof_bucket bucket = PROF_BUCKET_NONE;

    for (size_t i = 0; i < count; i++) {
        struct seen seen;

        take(prof, lines[i].step, &bucket);
        seen = published(prof, frame);
        if (seen.allocs != lines[i].allocs || seen.frees != lines[i].frees)
            fail_msg("line %zu (%c): %llu allocs, %llu frees", i,
                     (int)lines[i].step, (unsigned long long)seen.allocs,
                     (unsigned long long)seen.frees);
    }
}

#define TELL(prof, ...)                              \
    tell((prof), (const struct line[]){__VA_ARGS__}, \
         sizeof((const struct line[]){__VA_ARGS__}) / sizeof(struct line))

/* Each case of the ring begins in several cycles, some of them just below the
 * wrap. */
static const uint32_t starts[] = {
    0, 1, 2, 3, PROF_CYCLE_WRAP - 3, PROF_CYCLE_WRAP - 2, PROF_CYCLE_WRAP - 1};

TEST(ring_an_alloc_shows_two_cycles_on_and_its_free_with_it)
{
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct prof *prof = ruled_at(&prof_rules_exact, starts[i]);

        TELL(prof, {ALLOC, 0, 0}, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0},
             {FREE, 0, 0}, {NEXT, 0, 0}, {FLUSH, 2, 1}, {FREE, 2, 1},
             {NEXT, 2, 1}, {FLUSH, 2, 2}, {NEXT, 2, 2}, {FLUSH, 2, 2},
             {NEXT, 2, 2}, {FLUSH, 2, 2});
        props_prof_drop(prof);
    }
}

TEST(ring_post_sweep_shows_the_collection_at_once)
{
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct prof *prof = ruled_at(&prof_rules_exact, starts[i]);

        /* The second allocation is made after the cycle advanced, so it belongs
         * to the next one. */
        TELL(prof, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0}, {FREE, 0, 0},
             {ALLOC, 0, 0}, {POST, 1, 1}, {POST, 1, 1}, {NEXT, 1, 1},
             {FLUSH, 1, 1}, {NEXT, 1, 1}, {FLUSH, 2, 1});
        props_prof_drop(prof);
    }
}

TEST(ring_a_free_after_post_sweep_shows_at_the_next_flush)
{
    struct prof *prof = ruled(&prof_rules_exact);

    TELL(prof, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0}, {POST, 1, 0},
         {FREE, 1, 0}, {NEXT, 1, 0}, {FLUSH, 1, 1});
    props_prof_drop(prof);
}

/* A post_sweep of its own cycle publishes neither the free nor its
 * allocation. */
TEST(ring_an_explicit_free_shows_with_allocations_of_its_cycle)
{
    struct prof *prof = ruled(&prof_rules_exact);

    TELL(prof, {ALLOC, 0, 0}, {EXPLICIT, 0, 0}, {POST, 0, 0}, {NEXT, 0, 0},
         {FLUSH, 0, 0}, {ALLOC, 0, 0}, {EXPLICIT, 0, 0}, {NEXT, 0, 0},
         {FLUSH, 1, 1}, {NEXT, 1, 1}, {FLUSH, 2, 2});
    props_prof_drop(prof);
}

/* A collection that sweeps while the world is stopped advances by two
 * cycles. */
TEST(ring_two_cycles_in_one_stop_show_the_whole_heap)
{
    struct prof *prof = ruled(&prof_rules_exact);

    TELL(prof, {ALLOC, 0, 0}, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FREE, 0, 0},
         {NEXT, 0, 0}, {FLUSH, 2, 1});
    props_prof_drop(prof);
}

TEST(ring_the_second_flush_of_a_cycle_does_nothing)
{
    struct prof *prof = ruled(&prof_rules_exact);
    const prof_bucket bucket = alloc(prof, frame, SIZE);
    shared_u64 *slot;

    next_and_flush(prof);
    next_and_flush(prof);
    assert_true(prof_heap_phase(prof).flushed);
    /* A count that a stray event left in the slot of the current cycle is not
     * published. */
    slot = &prof_proc_at(prof, 0)->columns.slots[prof_heap_phase(prof).cycle %
                                                 COUNTER_SLOTS][bucket];
    store_relaxed(slot, load_relaxed(slot) + 7);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
    assert_int_equal(prof_heap_totals(prof).allocs_pending, 7);
    assert_int_equal(published(prof, frame).allocs, 1);
    props_prof_drop(prof);
}

TEST(only_a_flush_sets_flushed_and_each_cycle_clears_it)
{
    static const struct prof_rules *const sets[] = {
        &prof_rules_exact, &prof_rules_go1_5, &prof_rules_go1_6_late};

    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        struct prof *prof = ruled_at(sets[i], PROF_CYCLE_WRAP - 2);

        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t cycle = (PROF_CYCLE_WRAP - 2 + k) % PROF_CYCLE_WRAP;
            prof_bucket bucket = PROF_BUCKET_NONE;

            take(prof, SNAPSHOT, &bucket);
            take(prof, POST, &bucket);
            take(prof, ALLOC, &bucket);
            take(prof, FREE, &bucket);
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

/* Without one flush events are published later, as soon as the next flush that
 * reaches their slot; nothing is lost. */
TEST(ring_a_missing_flush_delays_and_loses_nothing)
{
    struct prof *prof = ruled(&prof_rules_exact);

    TELL(prof, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0}, {NEXT, 0, 0},
         {NEXT, 0, 0}, {FLUSH, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0}, {NEXT, 0, 0},
         {FLUSH, 1, 0});
    props_prof_drop(prof);
}

TEST(ring_a_snapshot_publishes_the_slot_of_now)
{
    struct prof *prof = ruled(&prof_rules_exact);

    spend_first_snapshot(prof);
    TELL(prof, {ALLOC, 0, 0}, {SNAPSHOT, 0, 0}, {NEXT, 0, 0}, {SNAPSHOT, 0, 0},
         {FREE, 0, 0}, {NEXT, 0, 0}, {SNAPSHOT, 1, 1}, {FLUSH, 1, 1});
    props_prof_drop(prof);
}

TEST(stages_stopped_show_two_collections_on)
{
    struct prof *prof = ruled(&prof_rules_go1_5);

    /* Flush, post_sweep and all snapshots but the first publish nothing. */
    spend_first_snapshot(prof);
    TELL(prof, {ALLOC, 0, 0}, {ALLOC, 0, 0}, {FLUSH, 0, 0}, {NEXT, 0, 0},
         {FLUSH, 0, 0}, {FREE, 0, 0}, {POST, 0, 0}, {SNAPSHOT, 0, 0},
         {ALLOC, 0, 0}, {EXPLICIT, 0, 0}, {NEXT, 2, 1}, {FLUSH, 2, 1},
         {NEXT, 3, 2}, {NEXT, 3, 2});
    props_prof_drop(prof);
}

TEST(stages_restarted_rotate_at_the_flush_and_once_a_cycle)
{
    struct prof *prof = ruled(&prof_rules_go1_6_late);

    spend_first_snapshot(prof);
    TELL(prof, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FLUSH, 0, 0}, {FLUSH, 0, 0},
         {NEXT, 0, 0}, {FREE, 0, 0}, {FLUSH, 1, 1}, {NEXT, 1, 1},
         {FLUSH, 1, 1});
    props_prof_drop(prof);
}

/* golang/go#19311, the seven events of docs/semantics.md. */
TEST(stages_restarted_show_a_free_before_its_alloc)
{
    struct prof *prof = ruled(&prof_rules_go1_6_late);

    (void)alloc(prof, 0xb, SIZE);
    next_and_flush(prof);
    next_and_flush(prof);
    assert_int_equal(published(prof, 0xb).allocs, 1);
    TELL(prof, {ALLOC, 0, 0}, {NEXT, 0, 0}, {FREE, 0, 0}, {FLUSH, 0, 1},
         {SNAPSHOT, 0, 1}, {NEXT, 0, 1}, {FLUSH, 1, 1});
    props_prof_drop(prof);
}

TEST(eras_without_the_path_drop_an_explicit_free_and_count_it)
{
    static const struct {
        const struct prof_rules *rules;
        uint64_t dropped;
    } rows[] = {
        {&prof_rules_exact, 0},      {&prof_rules_go1_5, 0},
        {&prof_rules_go1_6_late, 0}, {&prof_rules_go1_10, 2},
        {&prof_rules_go1_17, 2},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prof *prof = ruled(rows[i].rules);
        const prof_bucket bucket = alloc(prof, frame, SIZE);
        struct prof_heap_totals totals;

        prof_heap_free_explicit(prof_proc_at(prof, 0), PROF_BUCKET_NONE);
        prof_heap_free_explicit(prof_proc_at(prof, 0), bucket);
        prof_heap_free_explicit(prof_proc_at(prof, 0), bucket);
        totals = prof_heap_totals(prof);
        assert_int_equal(prof_drops(prof).no_free_path, rows[i].dropped);
        assert_int_equal(totals.frees_pending, 2 - rows[i].dropped);
        props_prof_drop(prof);
    }
}

TEST(the_free_of_a_dropped_allocation_does_nothing)
{
    struct prof *prof = ruled(&prof_rules_exact);

    prof_heap_free(prof_proc_at(prof, 0), PROF_BUCKET_NONE);
    assert_int_equal(prof_heap_totals(prof).frees_pending, 0);
    for (uint32_t i = 0; i < COUNTER_SLOTS; i++)
        assert_int_equal(
            load_relaxed(&prof_proc_at(prof, 0)->columns.slots[i][0]), 0);
    props_prof_drop(prof);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
