/*
 * test_prof_grace.c -- grace periods of the running world (white box): for
 * which record calls a control call waits, and for which it does not.
 *
 * The test simulates a record call in flight: it enters a section and does not
 * leave it.
 */
#include <string.h>

#include "instance.h"
#include "test_prof_make.h"
#include "unit_test.h"

enum { PROCS = 3 };

static struct prof *
in_world(enum prof_world world)
{
    return props_prof_make(&(struct prof_config){
        .buckets_max = 8, .procs_max = PROCS, .world = world});
}

static void
advance(struct prof *prof)
{
    assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
}

TEST(a_running_world_waits_for_the_call_of_each_processor)
{
    for (uint32_t i = 0; i < PROCS; i++) {
        struct prof *prof = in_world(PROF_WORLD_RUNNING);
        struct section *section = &prof->procs[i].section;
        const uint64_t calls = section_begin(section);

        advance(prof);
        assert_int_equal(prof_heap_flush(prof), PROF_ERR_BUSY);
        assert_int_equal(prof_heap_post_sweep(prof), PROF_ERR_BUSY);
        assert_int_equal(prof_heap_next_cycle(prof), PROF_ERR_BUSY);
        section_end(section, calls);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        props_prof_drop(prof);
    }
}

/* Three calls are in flight and end, in each possible order. */
TEST(of_several_calls_in_flight_the_last_one_ends_the_wait)
{
    static const uint32_t orders[][PROCS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                             {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct prof *prof = in_world(PROF_WORLD_RUNNING);
        uint64_t calls[PROCS];

        for (uint32_t j = 0; j < PROCS; j++)
            calls[j] = section_begin(&prof->procs[j].section);
        advance(prof);
        for (uint32_t j = 0; j < PROCS; j++) {
            const uint32_t at = orders[i][j];

            assert_int_equal(prof_heap_flush(prof), PROF_ERR_BUSY);
            section_end(&prof->procs[at].section, calls[at]);
        }
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        props_prof_drop(prof);
    }
}

TEST(a_stopped_world_is_trusted_and_waits_for_none)
{
    struct prof *prof = in_world(PROF_WORLD_STOPPED);

    (void)section_begin(&prof->procs[0].section);
    advance(prof);
    assert_int_equal(prof->procs[0].section.seen, 0); /* it was not read */
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
    props_prof_drop(prof);
}

TEST(what_is_refused_changes_nothing_and_may_be_asked_again)
{
    struct prof *prof = in_world(PROF_WORLD_RUNNING);
    struct prof_proc *proc = prof_proc_at(prof, 0);
    const uintptr_t frame = 1;
    const uint32_t row = prof_heap_alloc(proc, &frame, 1, 8);
    const uint64_t calls = section_begin(&prof->procs[1].section);
    struct prof_heap_record record;
    size_t count = 77;

    advance(prof);
    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count),
        PROF_ERR_BUSY);
    assert_int_equal(count, 77);
    assert_int_equal(prof_heap_next_cycle(prof), PROF_ERR_BUSY);
    assert_int_equal(prof_heap_phase(prof).cycle, 1);
    assert_false(prof_heap_phase(prof).flushed);
    section_end(&prof->procs[1].section, calls);

    /* This is the sweep after the cycle that was refused: its frees are
     * published as late as allocations of the same cycle. */
    prof_heap_free(proc, row);
    advance(prof);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
    assert_int_equal(prof_heap_totals(prof).allocs_published, 1);
    assert_int_equal(prof_heap_totals(prof).frees_published, 0);
    advance(prof);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
    assert_int_equal(prof_heap_totals(prof).frees_published, 1);
    props_prof_drop(prof);
}

/* Ask for the next cycle or a flush. One that is refused publishes nothing. */
static void
ask(struct prof *prof, bool for_cycle, enum prof_status wanted)
{
    const uint64_t before = prof_heap_totals(prof).allocs_published;

    assert_int_equal(
        for_cycle ? prof_heap_next_cycle(prof) : prof_heap_flush(prof), wanted);
    if (wanted != PROF_OK)
        assert_int_equal(prof_heap_totals(prof).allocs_published, before);
}

/* Cycles one after the other, over which calls begin, go on and end: the
 * library waits for those that were in flight at the last cycle, and for no
 * other. */
static void
check_cycles(const struct prof_rules *rules)
{
    struct prof *prof =
        props_prof_make(&(struct prof_config){.buckets_max = 8,
                                              .procs_max = PROCS,
                                              .world = PROF_WORLD_RUNNING,
                                              .rules = rules});
    const uintptr_t frame = 1;
    bool is_inside[PROCS] = {false};
    bool is_awaited[PROCS] = {false};
    uint64_t calls[PROCS] = {0};
    uint32_t drawn = 1;
    int cycles = 0;

    for (int step = 0; step < 4000; step++) {
        enum prof_status wanted = PROF_OK;
        uint32_t at;

        drawn = drawn * 1664525 + 1013904223;
        at = (drawn >> 16) % (PROCS + 2);
        for (uint32_t i = 0; i < PROCS; i++)
            wanted = is_awaited[i] ? PROF_ERR_BUSY : wanted;
        if (at == PROCS) {
            ask(prof, true, wanted);
            cycles += wanted == PROF_OK;
            if (wanted == PROF_OK)
                memcpy(is_awaited, is_inside, sizeof is_awaited);
        } else if (at > PROCS) {
            ask(prof, false, wanted);
        } else if (is_inside[at]) {
            (void)prof_heap_alloc(prof_proc_at(prof, at), &frame, 1, 8);
            section_end(&prof->procs[at].section, calls[at]);
            is_inside[at] = is_awaited[at] = false;
        } else {
            calls[at] = section_begin(&prof->procs[at].section);
            is_inside[at] = true;
        }
    }
    assert_in_range(cycles, 100, 1000);
    props_prof_drop(prof);
}

TEST(each_cycle_waits_for_the_calls_in_flight_at_it)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++)
        check_cycles(prof_rules_all[i]);
}

/* A processor whose record call is over does not look as if in a call. */
TEST(each_record_call_has_left_its_section)
{
    struct prof *prof = in_world(PROF_WORLD_RUNNING);
    struct prof_proc *proc = prof_proc_at(prof, 0);
    const uintptr_t frame = 1;
    prof_bucket row = PROF_BUCKET_NONE;

    for (int call = 0; call < 3; call++) {
        if (call == 0)
            row = prof_heap_alloc(proc, &frame, 1, 8);
        else if (call == 1)
            prof_heap_free(proc, row);
        else
            prof_heap_free_explicit(proc, row);
        advance(prof);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
    }
    props_prof_drop(prof);
}

/* If the number of a call wrapped, a later call might have the number of one
 * that a control call waits for. */
TEST(calls_are_counted_beyond_2_to_32)
{
    const uint64_t many = UINT64_C(1) << 33;
    struct prof *prof = in_world(PROF_WORLD_RUNNING);
    struct prof_proc *proc = prof_proc_at(prof, 0);
    const uintptr_t frame = 1;
    prof_bucket row;

    store_relaxed(&proc->section.calls, many);
    row = prof_heap_alloc(proc, &frame, 1, 8);
    assert_int_equal(load_relaxed(&proc->section.calls), many + 2);
    prof_heap_free(proc, row);
    assert_int_equal(load_relaxed(&proc->section.calls), many + 4);
    prof_heap_free_explicit(proc, row);
    assert_int_equal(load_relaxed(&proc->section.calls), many + 6);
    props_prof_drop(prof);
}

/* The call began after the cycle advanced, so it reads the new cycle. */
TEST(a_later_call_of_the_same_processor_is_not_waited_for)
{
    struct prof *prof = in_world(PROF_WORLD_RUNNING);
    struct prof_proc *proc = prof_proc_at(prof, 1);
    struct section *section = &prof->procs[1].section;
    const uintptr_t frame = 1;
    uint64_t calls;

    for (int cycles = 0; cycles < 3; cycles++) {
        calls = section_begin(section);
        advance(prof);
        section_end(section, calls);
        (void)prof_heap_alloc(proc, &frame, 1, 8);
        calls = section_begin(section);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        section_end(section, calls);
    }
    props_prof_drop(prof);
}

TEST(a_handler_within_a_call_does_not_end_it)
{
    const uintptr_t frame = 1;

    for (int call = 0; call < 3; call++) {
        struct prof *prof = in_world(PROF_WORLD_RUNNING);
        struct prof_proc *proc = prof_proc_at(prof, 0);
        const prof_bucket row = prof_heap_alloc(proc, &frame, 1, 8);
        const uint64_t interrupted = section_begin(&prof->procs[0].section);

        advance(prof);
        if (call == 0)
            (void)prof_heap_alloc(proc, &frame, 1, 8);
        else if (call == 1)
            prof_heap_free(proc, row);
        else
            prof_heap_free_explicit(proc, row);
        assert_int_equal(prof_heap_flush(prof), PROF_ERR_BUSY);
        section_end(&prof->procs[0].section, interrupted);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        props_prof_drop(prof);
    }
}

/* The first call of a processor has counted its event, and has not ended. */
TEST(a_call_in_flight_is_added_up_as_far_as_it_has_counted)
{
    struct prof *prof = in_world(PROF_WORLD_STOPPED);
    const uintptr_t frame = 1;
    struct prof_heap_totals totals;

    (void)prof_heap_alloc(prof_proc_at(prof, 1), &frame, 1, 8);
    store_relaxed(&prof->procs[1].section.calls, 1);
    totals = prof_heap_totals(prof);
    assert_int_equal(totals.allocs_pending, 1);
    advance(prof);
    advance(prof);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
    totals = prof_heap_totals(prof);
    assert_int_equal(totals.allocs_published, 1);
    assert_int_equal(totals.allocs_pending, 0);
    props_prof_drop(prof);
}

/* The slots of the table lie behind the processors. */
TEST(an_advance_reads_no_memory_behind_the_processors)
{
    enum { WORDS = 8 };
    struct prof *prof = in_world(PROF_WORLD_RUNNING);
    shared_u64 *behind = prof->table.slots;

    for (uint64_t i = 0; i < WORDS; i++)
        store_relaxed(&behind[i], 2 * i + 1);
    advance(prof);
    for (uint64_t i = 0; i < WORDS; i++)
        assert_int_equal(load_relaxed(&behind[i]), 2 * i + 1);
    for (uint64_t i = 0; i < WORDS; i++)
        store_relaxed(&behind[i], 1);
    assert_int_equal(prof_heap_flush(prof), PROF_OK);
    for (uint64_t i = 0; i < WORDS; i++)
        store_relaxed(&behind[i], 0);
    props_prof_drop(prof);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
