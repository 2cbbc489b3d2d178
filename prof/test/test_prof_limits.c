/*
 * test_prof_limits.c -- counters near 2^31, 2^32, 2^53, 2^63 and 2^64: nothing
 * is cut or rounded on the way from a column to a snapshot, and beyond 2^64
 * counts go on from 0, so that differences stay right.
 *
 * No run counts so far, so the columns are filled in by hand (white box).
 */
#include <string.h>

#include "prof/core/instance.h"
#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

static const uintptr_t stack[] = {0x1000, 0x2000};

/* The first values of the counters: two below an edge. */
static const uint64_t starts[] = {
    (UINT64_C(1) << 31) - 2, (UINT64_C(1) << 32) - 2, (UINT64_C(1) << 53) - 2,
    (UINT64_C(1) << 63) - 2, UINT64_MAX - 1,
};

/* Set what the first processor has counted in a slot. */
static void
set_counted(struct prof *prof, uint32_t slot, uint32_t row, uint64_t allocs,
            uint64_t frees)
{
    store_relaxed(&prof->procs[0].columns.slots[slot][row],
                  frees << 32 | (uint32_t)allocs);
    store_relaxed(&prof->counters.carried[slot][2 * row],
                  (uint32_t)(allocs >> 32));
    store_relaxed(&prof->counters.carried[slot][2 * row + 1],
                  (uint32_t)(frees >> 32));
    store_relaxed(&prof->counters.carries, (allocs | frees) >> 32 != 0);
}

/* The record of the only bucket. */
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
advance(struct prof *prof)
{
    assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
}

/* Let a bucket begin with `start` allocations and one object fewer freed, and
 * record five allocations, with a free beside each of the first three. After
 * each step advance the cycle until it is published. */
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
        advance(prof);
    /* The first allocation is published, from another slot. */
    assert_int_equal(heap_of(prof).allocs, 1);
    set_counted(prof, 0, row, start - 1, start - 1);
    for (uint64_t i = 1; i <= 5; i++) {
        (void)prof_heap_alloc(proc, stack, 2, 16);
        if (i <= 3)
            prof_heap_free(proc, bucket);
        for (int cycle = 0; cycle < 3; cycle++)
            advance(prof);
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

TEST(heap_counters_pass_every_edge)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        live_from(starts[i], &prof_rules_exact);
        live_from(starts[i], &prof_rules_go1_5);
    }
}

TEST(contention_counters_pass_every_edge)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const struct prof_config config = {.buckets_max = 4};
        struct prof *prof = props_prof_make(&config);
        struct prof_proc *proc = prof_proc_at(prof, 0);
        struct prof_contention_record record;
        size_t count;
        uint32_t row;

        prof_contention_event(proc, PROF_BLOCK, stack, 2, 7);
        row = prof_table_rows(&prof->table);
        assert_int_equal(load_relaxed(&proc->columns.waits[row].count), 1);
        store_relaxed(&proc->columns.waits[row].count, starts[i]);
        store_relaxed(&proc->columns.waits[row].cycles, starts[i]);
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
