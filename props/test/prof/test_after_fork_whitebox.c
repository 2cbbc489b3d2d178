/*
 * test_after_fork_whitebox.c -- how a child repairs the instance after a fork,
 * from states made by hand (white box): counts that no run reaches, a stack
 * larger than a buffer, an entry on no list.
 */
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "instance.h"
#include "prof/fork.h"
#include "registry.h"
#include "test_prof_make.h"
#include "tracer.h"
#include "unit_test.h"

enum { PROCS = 3, RING_ALLOCS = 2 /* the slot of cycle 0 */ };

static struct prof_trace *trace;

static bool
no_task(void *context, struct prof_trace_task *task)
{
    (void)context;
    (void)task;
    return false;
}

static void *
block_of(size_t bytes)
{
    assert_int_not_equal(bytes, 0);
    return props_block(bytes, 0);
}

static void
make_trace(void)
{
    const struct prof_trace_config config = {.procs_max = PROCS,
                                             .buffers_max = 8,
                                             .buffer_bytes = 256,
                                             .stacks_max = 64};
    const size_t bytes = prof_trace_bytes_needed(&config);

    assert_int_equal(prof_trace_init(&trace, &config, block_of(bytes), bytes),
                     PROF_OK);
}

static const uintptr_t stack[] = {0x1000, 0x2000};

struct wrap_row {
    const char *why;
    const struct prof_rules *rules;
    uint32_t slot;    /* the slot whose counter is set */
    uint32_t taken;   /* the slot whose published sum is set */
    uint64_t before;  /* that published sum */
    uint32_t counter; /* the counter, as the lost thread left it */
    bool inside;      /* that thread was in the middle of a call */
    uint32_t carried; /* the carry that the repair must make */
};

static const struct wrap_row wrap_rows[] = {
    {"wrapped, not carried", NULL, 1, 1, UINT32_MAX, 0, true, 1},
    {"wrapped long after a publication", NULL, 2, 2, 7, 0, true, 1},
    {"nothing is published: nothing shows it", NULL, 2, 2, 0, 0, true, 0},
    {"not wrapped", NULL, 1, 1, UINT32_MAX, UINT32_MAX, true, 0},
    {"in no call", NULL, 1, 1, UINT32_MAX, 0, false, 0},
    {"the recent stage, as moved", &prof_rules_go1_5, RECENT, MOVED, 9, 0, true,
     1},
    {"the recent stage, not moved", &prof_rules_go1_5, RECENT, RECENT, 9, 0,
     true, 0},
    {"the previous stage", &prof_rules_go1_5, PREVIOUS, PREVIOUS, 9, 0, true,
     1},
};

/* `half` says which half of the word is set: that of the allocations or of the
 * frees. */
static void
try_wrap(const struct wrap_row *row, enum half half)
{
    const unsigned shift = half == ALLOCS ? 0 : 32;
    const struct prof_config config = {
        .rules = row->rules, .buckets_max = 2, .procs_max = 2};
    struct prof *one = props_prof_make(&config);
    struct prof_proc *proc = prof_proc_at(one, 1);
    const prof_bucket first = prof_heap_alloc(proc, stack, 2, 16);
    const prof_bucket bucket = prof_heap_alloc(proc, stack, 2, 32);

    assert_true(first < bucket);
    store_relaxed(&proc->columns.slots[2][first], 0);
    store_relaxed(&proc->columns.slots[RECENT][first], 0);
    for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++)
        store_relaxed(&proc->columns.slots[slot][bucket], 0);
    store_relaxed(&proc->columns.slots[row->slot][bucket],
                  (uint64_t)row->counter << shift);
    one->counters.published[row->taken][bucket] = row->before << shift;
    store_relaxed(&proc->section.calls, row->inside ? 7 : 8);
    prof_after_fork_child(one);
    if (load_relaxed(&one->counters.carried[row->slot][2 * bucket + half]) !=
            row->carried ||
        load_relaxed(&one->counters.carried[row->slot][2 * bucket + !half]) !=
            0 ||
        load_relaxed(&one->counters.carries) != row->carried)
        fail_msg("%s: carried otherwise", row->why);
    assert_int_equal(load_relaxed(&proc->section.calls), 8);
    props_prof_drop(one);
}

TEST(a_carry_that_was_not_made_is_made_up_for)
{
    for (size_t i = 0; i < sizeof wrap_rows / sizeof *wrap_rows; i++) {
        try_wrap(&wrap_rows[i], ALLOCS);
        try_wrap(&wrap_rows[i], FREES);
    }
}

/* The fork interrupts a first snapshot, which publishes allocations of the
 * current cycle: the child finishes it. Without one, the child must not publish
 * them. */
TEST(a_first_snapshot_is_gone_on_with_and_no_other)
{
    const struct prof_config config = {.buckets_max = 2, .procs_max = 1};
    struct prof *one = props_prof_make(&config);
    struct prof_heap_record record;
    size_t count;

    prof_heap_alloc(prof_proc_at(one, 0), stack, 2, 16);
    prof_after_fork_child(one);
    assert_int_equal(prof_heap_totals(one).allocs_published, 0);
    one->publishes_all = true; /* as the thread that is gone left it */
    prof_after_fork_child(one);
    assert_int_equal(prof_heap_totals(one).allocs_published, 1);
    assert_false(one->publishes_all);
    props_prof_drop(one);

    one = props_prof_make(&config);
    prof_heap_alloc(prof_proc_at(one, 0), stack, 2, 16);
    assert_int_equal(
        prof_heap_snapshot(one, PROF_SELECT_ALL, &record, 1, &count), PROF_OK);
    assert_false(one->publishes_all);
    props_prof_drop(one);
}

/* The fork interrupts a first snapshot that has published a row whose count
 * then wrapped: the carry must be made before the snapshot is finished. */
TEST(a_first_snapshot_goes_on_with_the_carry)
{
    const struct prof_config config = {.buckets_max = 2, .procs_max = 1};
    struct prof *one = props_prof_make(&config);
    struct prof_proc *proc = prof_proc_at(one, 0);
    const prof_bucket bucket = prof_heap_alloc(proc, stack, 2, 16);

    store_relaxed(&proc->columns.slots[RING_ALLOCS][bucket], 0);
    one->counters.published[RING_ALLOCS][bucket] = UINT32_MAX;
    one->publishes_all = true;
    store_relaxed(&proc->section.calls, 7);
    prof_after_fork_child(one);
    assert_int_equal(prof_heap_totals(one).allocs_published, UINT64_C(1) << 32);
    assert_int_equal(prof_heap_totals(one).allocs_pending, 0);
    props_prof_drop(one);
}

TEST(every_buffer_of_a_tracer_is_empty_again)
{
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = no_task};
    uint32_t empty = 0;

    make_trace();
    assert_int_equal(prof_trace_start(trace, &world), PROF_OK);
    for (uint32_t i = 0; i < PROCS; i++)
        prof_trace_emit(trace, i, PROF_EV_GO_SCHED, NULL, stack, 2);
    prof_trace_after_fork_child(trace);
    for (uint32_t i = 0; i < PROCS; i++)
        assert_null(trace->procs[i].buffer);
    for (const struct trace_buffer *at = trace->empty; at != NULL;
         at = at->next)
        assert_in_range(++empty, 1, trace->buffers_count);
    assert_int_equal(empty, trace->buffers_count);
    free(trace);
}

static enum prof_status
open_entry(struct prof_profile *of, const char *key)
{
    return prof_profile_add(of, key, 1, stack, 2);
}

TEST(entries_are_open_or_free_and_profiles_have_their_names)
{
    const struct prof_registry_config config = {.profiles_max = 2,
                                                .entries_max = 3};
    const size_t bytes = prof_registry_bytes_needed(&config);
    struct prof_registry *one;
    struct prof_profile *own;
    struct prof_profile *other;
    size_t open;

    assert_int_equal(prof_registry_init(&one, &config, block_of(bytes), bytes),
                     PROF_OK);
    assert_int_equal(prof_registry_new(one, "own", &own), PROF_OK);
    assert_int_equal(open_entry(own, "a"), PROF_OK);
    assert_int_equal(open_entry(own, "b"), PROF_OK);
    assert_int_equal(open_entry(own, "c"), PROF_OK);
    assert_int_equal(prof_profile_remove(own, "a", 1), PROF_OK);
    assert_int_equal(prof_profile_remove(own, "c", 1), PROF_OK);
    /* A removal and the making of a profile, both stopped in the middle. */
    one->entries[3].profile = one->entries[2].profile;
    memset(one->profiles[one->profiles_count].name, 'x', PROF_NAME_MAX);
    own->open = 7;
    prof_registry_after_fork_child(one);
    assert_int_equal(one->entries[1].profile, 0);
    assert_int_equal(one->entries[3].profile, 0);
    assert_int_equal(prof_profile_count(own, &open), PROF_OK);
    assert_int_equal(open, 1);
    assert_int_equal(open_entry(own, "b"), PROF_ERR_KEY_TAKEN);
    assert_int_equal(open_entry(own, "d"), PROF_OK);
    assert_int_equal(open_entry(own, "e"), PROF_OK);
    assert_int_equal(open_entry(own, "f"), PROF_ERR_MEMORY);
    assert_int_equal(prof_profile_remove(own, "b", 1), PROF_OK);
    assert_int_equal(prof_registry_new(one, "o", &other), PROF_OK);
    assert_string_equal(prof_profile_name(other), "o");
    free(one);
}

TEST(calls_in_flight_are_not_waited_for)
{
    const struct prof_config config = {
        .buckets_max = 2, .procs_max = 2, .world = PROF_WORLD_RUNNING};
    struct prof *one = props_prof_make(&config);

    store_relaxed(&prof_proc_at(one, 1)->section.calls, 3);
    assert_int_equal(prof_heap_next_cycle(one), PROF_OK);
    assert_int_equal(prof_heap_flush(one), PROF_ERR_BUSY);
    prof_after_fork_child(one);
    assert_int_equal(prof_heap_flush(one), PROF_OK);
    props_prof_drop(one);
}

/* ---- A child goes on like a process that never forked ---- */

enum { CALLS = 8, ROWS = 2, STEPS = 600 };

/* returns: the answer of a control call; PROF_OK for a record call */
static enum prof_status
do_call(struct prof *one, uint32_t call, uint32_t row)
{
    struct prof_proc *proc = prof_proc_at(one, row);
    struct prof_heap_record records[ROWS];
    size_t count;

    switch (call) {
    case 0:
        prof_heap_free(proc, row + 1);
        return PROF_OK;
    case 1:
        prof_heap_free_explicit(proc, row + 1);
        return PROF_OK;
    case 2:
        return prof_heap_next_cycle(one);
    case 3:
        return prof_heap_flush(one);
    case 4:
        return prof_heap_post_sweep(one);
    case 5:
        return prof_heap_snapshot(one, PROF_SELECT_ALL, records, ROWS, &count);
    default:
        prof_heap_alloc(proc, stack, 2, 16 + row);
        return PROF_OK;
    }
}

static void
expect_alike(struct prof *child, struct prof *other)
{
    const struct prof_heap_totals a = prof_heap_totals(child);
    const struct prof_heap_totals b = prof_heap_totals(other);

    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(prof_heap_phase(child).cycle,
                     prof_heap_phase(other).cycle);
    assert_int_equal(prof_heap_phase(child).flushed,
                     prof_heap_phase(other).flushed);
}

/* A fork between two calls changes nothing of what the next ones do. */
static void
try_steps(const struct prof_rules *rules, enum prof_world world)
{
    const struct prof_config config = {
        .rules = rules, .world = world, .buckets_max = ROWS, .procs_max = ROWS};
    struct prof *child = props_prof_make(&config);
    struct prof *other = props_prof_make(&config);
    uint32_t drawn = 7;

    for (uint32_t row = 0; row < ROWS; row++) {
        do_call(child, CALLS, row);
        do_call(other, CALLS, row);
    }
    for (int step = 0; step < STEPS; step++) {
        uint32_t call;
        uint32_t row;

        drawn = drawn * 1664525 + 1013904223;
        call = (drawn >> 20) % CALLS;
        row = (drawn >> 16) % ROWS;
        if ((drawn >> 24) % 4 == 0)
            prof_after_fork_child(child);
        assert_int_equal(do_call(child, call, row), do_call(other, call, row));
        expect_alike(child, other);
    }
    props_prof_drop(child);
    props_prof_drop(other);
}

TEST(a_child_goes_on_like_a_process_that_never_forked)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        try_steps(prof_rules_all[i], PROF_WORLD_STOPPED);
        try_steps(prof_rules_all[i], PROF_WORLD_RUNNING);
    }
}

/* A gap between samples is far above 16 bytes on average, so it takes many
 * calls until an allocation is to be sampled. */
TEST(a_yes_that_no_allocation_followed_is_forgotten)
{
    const struct prof_config config = {.buckets_max = 2, .procs_max = 1};
    struct prof *one = props_prof_make(&config);
    struct prof_proc *proc = prof_proc_at(one, 0);
    struct prof_heap_record record;
    size_t count;

    prof_heap_rate_set(one, 4096);
    for (int i = 0; i < 1000000 && !prof_heap_sample(proc, 16); i++)
        continue;
    assert_int_not_equal(proc->sampler.sampled, 0);
    prof_after_fork_child(one);
    assert_int_equal(proc->sampler.rate_bytes, 0);
    /* An allocation that was never offered for sampling has the rate 1. */
    prof_heap_alloc(proc, stack, 2, 16);
    assert_int_equal(
        prof_heap_snapshot(one, PROF_SELECT_ALL, &record, 1, &count), PROF_OK);
    assert_int_equal(record.rate_bytes, 1);
    props_prof_drop(one);
}

enum { DEEP = 40, RECORD_MAX = 4096 };

/* Trace one event with a deep stack. */
static void
trace_a_deep_stack(void)
{
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = no_task};
    uintptr_t deep[DEEP];

    for (uint32_t i = 0; i < DEEP; i++)
        deep[i] = (uintptr_t)0x7fff00000000 + i;
    assert_int_equal(prof_trace_start(trace, &world), PROF_OK);
    prof_trace_emit(trace, 0, PROF_EV_GO_SCHED, NULL, deep, DEEP);
    assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
}

/* Read the first `parts` parts of the trace. returns: their bytes */
static size_t
read_parts(uint32_t parts, uint8_t file[RECORD_MAX])
{
    const uint8_t *bytes;
    size_t count;
    size_t used = 0;

    for (uint32_t i = 0; i < parts; i++) {
        if (prof_trace_read(trace, &bytes, &count) != PROF_OK)
            break;
        assert_in_range(used + count, 0, RECORD_MAX);
        memcpy(&file[used], bytes, count);
        used += count;
    }
    return used;
}

/* Does the file have the deep stack, with its number, depth and all frames? */
static bool
has_deep_stack(const uint8_t *file, size_t bytes)
{
    /* Each frame takes seven bytes, and the record's length two. */
    const uint32_t length = 2 + DEEP * 7;
    const uint8_t head[] = {3 | 3 << 6, (uint8_t)(length & 127) | 128,
                            (uint8_t)(length >> 7), 1, DEEP};

    for (size_t at = 0; at + sizeof head + DEEP * 7 <= bytes; at++) {
        if (memcmp(&file[at], head, sizeof head) == 0)
            return true;
    }
    return false;
}

TEST(a_stack_that_was_given_out_by_half_is_not_gone_on_with)
{
    uint8_t whole[RECORD_MAX];
    uint8_t file[RECORD_MAX];
    size_t bytes;

    make_trace();
    trace_a_deep_stack();
    bytes = read_parts(UINT32_MAX, whole);
    assert_true(has_deep_stack(whole, bytes));
    /* Stop reading after each number of parts. */
    for (uint32_t parts = 0; parts < 6; parts++) {
        trace_a_deep_stack();
        read_parts(parts, file);
        prof_trace_after_fork_child(trace);
        trace_a_deep_stack();
        bytes = read_parts(UINT32_MAX, file);
        assert_true(has_deep_stack(file, bytes));
    }
    free(trace);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
