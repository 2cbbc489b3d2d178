/*
 * test_prof_snapshot.c -- contracts of the functions that read a profile: short
 * buffers, the first snapshot, the filter, PROF_ERR_BUSY, totals.
 */
#include <string.h>

#include "test_prof_make.h"
#include "unit_test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define ROOM            8U

static struct prof *
ruled(const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = ROOM};

    return props_prof_make(&config);
}

static prof_bucket
alloc(struct prof *prof, uintptr_t frame, uint64_t size_bytes)
{
    return prof_heap_alloc(prof_proc_at(prof, 0), &frame, 1, size_bytes);
}

static size_t
snapshot(struct prof *prof, enum prof_select select,
         struct prof_heap_record *records)
{
    size_t count = 99;

    assert_int_equal(prof_heap_snapshot(prof, select, records, ROOM, &count),
                     PROF_OK);
    return count;
}

static void
next_and_flush(struct prof *prof)
{
    assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
}

TEST(a_short_buffer_is_not_touched_and_the_need_is_said)
{
    struct prof_heap_record records[3];
    struct prof_heap_record before[3];
    struct prof *prof = ruled(&prof_rules_exact);

    for (uintptr_t i = 1; i <= 3; i++)
        (void)alloc(prof, i, 8);
    memset(records, 0xa5, sizeof records);
    memcpy(before, records, sizeof before);
    for (size_t room = 0; room < 3; room++) {
        size_t count = 0;

        assert_int_equal(
            prof_heap_snapshot(prof, PROF_SELECT_ALL, records, room, &count),
            PROF_ERR_SHORT);
        assert_int_equal(count, 3);
        assert_memory_equal(records, before, sizeof before);
    }
    for (size_t room = 3; room <= ROOM; room++) {
        struct prof_heap_record all[ROOM];
        size_t count = 0;

        memset(all, 0xa5, sizeof all);
        assert_int_equal(
            prof_heap_snapshot(prof, PROF_SELECT_ALL, all, room, &count),
            PROF_OK);
        assert_int_equal(count, 3);
        if (room > 3) /* nor are the records behind the third */
            assert_memory_equal(&all[3], before, sizeof *before);
    }
    props_prof_drop(prof);
}

TEST(a_short_buffer_of_contention_is_not_touched_either)
{
    static const enum prof_contention kinds[] = {PROF_BLOCK, PROF_MUTEX};
    struct prof *prof = ruled(&prof_rules_exact);

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct prof_contention_record records[2];
        struct prof_contention_record before[2];
        size_t count = 0;

        for (uintptr_t frame = 1; frame <= 2; frame++)
            prof_contention_event(prof_proc_at(prof, 0), kinds[i], &frame, 1,
                                  5);
        memset(records, 0xa5, sizeof records);
        memcpy(before, records, sizeof before);
        assert_int_equal(
            prof_contention_snapshot(prof, kinds[i], records, 1, &count),
            PROF_ERR_SHORT);
        assert_int_equal(count, 2);
        assert_memory_equal(records, before, sizeof before);
        assert_int_equal(
            prof_contention_snapshot(prof, kinds[i], records, 2, &count),
            PROF_OK);
        assert_int_equal(count, 2);
        assert_int_equal(records[0].stack[0], 2); /* the newest first */
        assert_int_equal(records[1].stack[0], 1);
    }
    props_prof_drop(prof);
}

TEST(clocks_that_ran_backwards_count_the_least)
{
    static const struct {
        const char *why;
        enum prof_contention kind;
        int64_t cycles;
        uint64_t want;
    } rows[] = {
        {"block, backwards", PROF_BLOCK, INT64_MIN, 1},
        {"block, standing", PROF_BLOCK, 0, 1},
        {"block, one tick", PROF_BLOCK, 1, 1},
        {"block, long", PROF_BLOCK, INT64_MAX, INT64_MAX},
        {"mutex, backwards", PROF_MUTEX, -1, 0},
        {"mutex, standing", PROF_MUTEX, 0, 0},
        {"mutex, two ticks", PROF_MUTEX, 2, 2},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prof *prof = ruled(&prof_rules_exact);
        struct prof_contention_record record;
        size_t count = 0;

        prof_contention_event(prof_proc_at(prof, 0), rows[i].kind, NULL, 0,
                              rows[i].cycles);
        assert_int_equal(
            prof_contention_snapshot(prof, rows[i].kind, &record, 1, &count),
            PROF_OK);
        if (record.count != 1 || record.cycles != rows[i].want)
            fail_msg("%s: %llu", rows[i].why,
                     (unsigned long long)record.cycles);
        props_prof_drop(prof);
    }
}

TEST(the_first_snapshot_shows_all_and_the_next_what_is_due)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        struct prof *prof = ruled(prof_rules_all[i]);
        struct prof_heap_record records[ROOM];
        prof_bucket bucket;

        /* A contention bucket is not in the heap profile, so this is still the
         * first snapshot. */
        prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, NULL, 0, 1);
        assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 0);
        bucket = alloc(prof, 1, 8);
        (void)alloc(prof, 1, 8);
        prof_heap_free(prof_proc_at(prof, 0), bucket);
        assert_int_equal(snapshot(prof, PROF_SELECT_INUSE, records), 1);
        assert_int_equal(records[0].allocs, 2);
        assert_int_equal(records[0].frees, 1);
        /* From here on allocations wait to be published, and so does a new
         * bucket. */
        (void)alloc(prof, 1, 8);
        (void)alloc(prof, 2, 8);
        assert_int_equal(snapshot(prof, PROF_SELECT_INUSE, records), 1);
        assert_int_equal(records[0].allocs, 2);
        assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 2);
        assert_int_equal(records[0].allocs, 0);
        props_prof_drop(prof);
    }
}

/* Of two allocations, one before and one after the size was requested. */
TEST(requesting_the_size_uses_up_the_first_snapshot_by_rule)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        const struct prof_rules *rules = prof_rules_all[i];
        struct prof *prof = ruled(rules);
        struct prof_heap_record records[ROOM];
        size_t count = 0;

        (void)alloc(prof, 1, 8);
        assert_int_equal(
            prof_heap_snapshot(prof, PROF_SELECT_INUSE, NULL, 0, &count),
            PROF_ERR_SHORT);
        assert_int_equal(count, 1);
        (void)alloc(prof, 1, 8);
        assert_int_equal(snapshot(prof, PROF_SELECT_INUSE, records), 1);
        assert_int_equal(records[0].allocs,
                         rules->sizing_consumes_first ? 1 : 2);
        props_prof_drop(prof);
    }
}

/* A torn snapshot (docs/semantics.md): all events so far, in the middle of a
 * sweep. */
TEST(a_first_snapshot_amid_a_sweep_shows_what_was_swept)
{
    struct prof *prof = ruled(&prof_rules_exact);
    const prof_bucket a = alloc(prof, 0xa, 8);
    const prof_bucket b = alloc(prof, 0xb, 8);
    struct prof_heap_record records[ROOM];

    next_and_flush(prof);
    prof_heap_free(prof_proc_at(prof, 0), a);
    assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 2);
    assert_int_equal(records[0].frees, 0);
    assert_int_equal(records[1].frees, 1);
    prof_heap_free(prof_proc_at(prof, 0), b);
    next_and_flush(prof);
    assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 2);
    assert_int_equal(records[0].frees, 1);
    assert_int_equal(records[1].frees, 1);
    assert_int_equal(snapshot(prof, PROF_SELECT_INUSE, records), 0);
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
        {"three objects of 2^63", UINT64_C(1) << 63, 3, 1},
        {"an object of all there is", UINT64_MAX, 1, 1},
        {"a byte", 1, 1, 1},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prof *prof = ruled(&prof_rules_exact);
        struct prof_heap_record records[ROOM];

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

TEST(totals_separate_the_published_from_the_pending)
{
    struct prof *prof = ruled(&prof_rules_exact);
    struct prof_heap_totals totals;
    prof_bucket bucket = PROF_BUCKET_NONE;

    prof_contention_event(prof_proc_at(prof, 0), PROF_MUTEX, NULL, 0, 1000);
    for (uintptr_t i = 1; i <= 4; i++)
        bucket = alloc(prof, i, 8);
    next_and_flush(prof);
    prof_heap_free(prof_proc_at(prof, 0), bucket);
    (void)alloc(prof, 1, 8);
    totals = prof_heap_totals(prof);
    assert_int_equal(totals.allocs_published, 0);
    assert_int_equal(totals.frees_published, 0);
    assert_int_equal(totals.allocs_pending, 5);
    assert_int_equal(totals.frees_pending, 1);
    next_and_flush(prof);
    totals = prof_heap_totals(prof);
    assert_int_equal(totals.allocs_published, 4);
    assert_int_equal(totals.frees_published, 1);
    assert_int_equal(totals.allocs_pending, 1);
    assert_int_equal(totals.frees_pending, 0);
    props_prof_drop(prof);
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
        next_and_flush(prof);
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

/* A collection whose next_cycle is refused is published later; no snapshot
 * shows an object's free without its allocation. */
TEST(after_a_busy_next_cycle_frees_wait_for_their_allocations)
{
    static const struct prof_rules *const sets[] = {&prof_rules_exact,
                                                    &prof_rules_go1_5};

    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        struct prof *prof = ruled(sets[i]);
        struct visit visit = {.prof = prof};
        struct prof_heap_record records[ROOM];
        prof_bucket bucket;

        (void)alloc(prof, 1, 8); /* uses up the first snapshot */
        assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 1);
        next_and_flush(prof);
        bucket = alloc(prof, 2, 8);
        prof_heap_iterate(prof, request_next_cycle, &visit);
        prof_heap_free(prof_proc_at(prof, 0), bucket); /* the sweep of the
                                                        * refused cycle */
        assert_int_equal(prof_heap_post_sweep(prof), PROF_OK);
        (void)alloc(prof, 2, 8);
        for (uint32_t cycles = 0; cycles < 4; cycles++) {
            const bool shown = cycles >= 2;

            assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 2);
            assert_int_equal(records[0].allocs, shown ? 2 : 0);
            assert_int_equal(records[0].frees, shown);
            next_and_flush(prof);
        }
        /* After the accepted cycle a sweep is published one cycle later, as
         * usual. */
        prof_heap_free(prof_proc_at(prof, 0), bucket);
        next_and_flush(prof);
        assert_int_equal(snapshot(prof, PROF_SELECT_ALL, records), 2);
        assert_int_equal(records[0].frees, 2);
        props_prof_drop(prof);
    }
}

/* An object that is allocated and swept in one cycle, and a post-sweep before
 * its time: the free is published alone, so the next snapshot is not the
 * first. */
TEST(after_a_free_without_its_allocation_no_snapshot_is_the_first)
{
    const struct prof_config config = {.buckets_max = 4};
    struct prof *prof = props_prof_make(&config);
    struct prof_proc *proc = prof_proc_at(prof, 0);
    const uintptr_t frame = 1;
    struct prof_heap_record record;
    size_t count;

    prof_heap_free(proc, prof_heap_alloc(proc, &frame, 1, 8));
    assert_int_equal(prof_heap_post_sweep(prof), PROF_OK);
    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count), PROF_OK);
    assert_int_equal(record.frees, 1);
    assert_int_equal(record.allocs, 0);
    props_prof_drop(prof);
}
