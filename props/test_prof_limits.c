/*
 * test_prof_limits.c -- counters near 2^31, 2^32, 2^53, 2^63 and 2^64: nothing
 * is cut or rounded on the way from a column to a snapshot, and beyond 2^64
 * counts go on from 0, so that differences stay right.
 *
 * No run counts so far, so the columns are filled in by hand (white box).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instance.h"
#include "test_prof_make.h"

static const uintptr_t stack[] = {0x1000, 0x2000};

/* Where the counters begin: two before an edge. */
static const uint64_t starts[] = {
    (UINT64_C(1) << 31) - 2, (UINT64_C(1) << 32) - 2, (UINT64_C(1) << 53) - 2,
    (UINT64_C(1) << 63) - 2, UINT64_MAX - 1,
};

/* The one bucket of a kind. */
static struct prof_heap_record
heap_of(struct prof *prof)
{
    struct prof_heap_record record = {.allocs = 0};
    size_t count;

    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count), PROF_OK);
    assert_int_equal(count, 1);
    return record;
}

static void
turn(struct prof *prof)
{
    assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
}

/* Five allocations and three frees from `start` on, all through the cycle. */
static void
live_from(uint64_t start, const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = 4};
    struct prof *prof = props_prof_make(&config);
    struct prof_proc *proc = prof_proc_at(prof, 0);
    const prof_bucket bucket = prof_heap_alloc(proc, stack, 2, 16);
    const uint32_t row = prof_table_rows(&prof->table);
    struct prof_heap_record record;
    struct prof_heap_totals totals;

    for (int i = 0; i < 3; i++)
        turn(prof);
    assert_int_equal(load_relaxed(&prof->active.allocs[row]), 1);
    store_relaxed(&prof->active.allocs[row], start);
    store_relaxed(&prof->active.frees[row], start - 1);
    for (uint64_t i = 1; i <= 5; i++) {
        (void)prof_heap_alloc(proc, stack, 2, 16);
        if (i <= 3)
            prof_heap_free(proc, bucket);
        for (int cycle = 0; cycle < 3; cycle++)
            turn(prof);
        record = heap_of(prof);
        assert_int_equal(record.allocs, start + i);
        assert_int_equal(record.frees, start - 1 + (i < 3 ? i : 3));
        assert_int_equal(prof_heap_inuse_objects(&record), i <= 3 ? 1 : i - 2);
        assert_int_equal(prof_heap_inuse_bytes(&record),
                         16 * (i <= 3 ? 1 : i - 2));
    }
    totals = prof_heap_totals(prof);
    assert_int_equal(totals.allocs_published, start + 5);
    assert_int_equal(totals.frees_published, start + 2);
    assert_int_equal(totals.allocs_pending + totals.frees_pending, 0);
    props_prof_drop(prof);
}

static void
heap_counters_pass_every_edge(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        live_from(starts[i], &prof_rules_exact);
        live_from(starts[i], &prof_rules_go1_5);
    }
}

/* The same while they wait to be published. */
static void
pending_counters_pass_every_edge(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const struct prof_config config = {.buckets_max = 4};
        struct prof *prof = props_prof_make(&config);
        struct prof_proc *proc = prof_proc_at(prof, 0);
        const prof_bucket bucket = prof_heap_alloc(proc, stack, 2, 16);
        const uint32_t row = prof_table_rows(&prof->table);
        struct prof_heap_record record;

        for (int slot = 0; slot < LANE_SLOTS; slot++) {
            if (load_relaxed(&prof->slots[slot].allocs[row]) == 1)
                store_relaxed(&prof->slots[slot].allocs[row], starts[i]);
        }
        for (int event = 0; event < 5; event++)
            (void)prof_heap_alloc(proc, stack, 2, 16);
        prof_heap_free(proc, bucket);
        for (int cycle = 0; cycle < 3; cycle++)
            turn(prof);
        record = heap_of(prof);
        assert_int_equal(record.allocs, starts[i] + 5);
        assert_int_equal(record.frees, 1);
        props_prof_drop(prof);
    }
}

static void
contention_counters_pass_every_edge(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const struct prof_config config = {.buckets_max = 4};
        struct prof *prof = props_prof_make(&config);
        struct prof_proc *proc = prof_proc_at(prof, 0);
        struct prof_contention_record record;
        size_t count;
        uint32_t row;

        prof_contention_event(proc, PROF_BLOCK, stack, 2, 7);
        row = prof_table_rows(&prof->table);
        assert_int_equal(load_relaxed(&prof->active.allocs[row]), 1);
        store_relaxed(&prof->active.allocs[row], starts[i]);
        store_relaxed(&prof->active.frees[row], starts[i]);
        for (int event = 0; event < 5; event++)
            prof_contention_event(proc, PROF_BLOCK, stack, 2, 7);
        assert_int_equal(
            prof_contention_snapshot(prof, PROF_BLOCK, &record, 1, &count),
            PROF_OK);
        assert_int_equal(count, 1);
        assert_int_equal(record.count, starts[i] + 5);
        assert_int_equal(record.cycles, starts[i] + 35);
        props_prof_drop(prof);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_counters_pass_every_edge),
        cmocka_unit_test(pending_counters_pass_every_edge),
        cmocka_unit_test(contention_counters_pass_every_edge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
