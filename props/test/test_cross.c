/*
 * test_cross.c -- the instruments of one world agree, and each check notices if
 * the result of one is changed (X1 to X5); without one of them, or with one
 * stopped and started, the others say the same (X6).
 */
#include "props/test/cross_fixture.h"

#include <string.h>

#include "props/cross/cross_without.h"
#include "sim/instruments/instrument_debug.h"

/* ---- Worlds ---- */

/* Task 1 locks mutex 0 twice. Meanwhile task 2 waits for it all the time, and
 * task 4, behind task 2, in the second half. Then task 1 parks, which no
 * profile records. */
static void
run_queue(void)
{
    begin_tasks();
    P(0, CREATE, OTHER, .lock = 0); /* task 4 */
    T(1, LOCK, LEAF, .lock = 0);
    T(2, LOCK, DEEP, .lock = 0); /* before the trace */
    P(0, TRACE_START, LEAF, .lock = 0);
    P(1, PROC_START, NOWHERE, .lock = 0);
    P(1, RUN, NOWHERE, .object = 4);
    T(4, LOCK, OTHER, .lock = 0, .delay_ticks = 2000000);
    T(1, UNLOCK, LEAF, .lock = 0, .delay_ticks = 3000000);
    P(1, RUN, NOWHERE, .object = 2);
    T(2, UNLOCK, OTHER, .lock = 0, .delay_ticks = 1000000);
    P(0, PARK_LOCK, DEEP, .lock = 0);
    P(1, WAKE, LEAF, .object = 1);
    P(1, TRACE_STOP, LEAF, .lock = 0);
    P(1, READ, NOWHERE, .lock = 0);
}

static struct cross_site *
site_of(enum prof_contention kind, const uintptr_t *stack)
{
    struct cross_sites *sites = &cross.sessions[0].end[kind];

    for (uint32_t i = 0; i < sites->count; i++) {
        if (sites->sites[i].stack[0] == stack[0])
            return &sites->sites[i];
    }
    fail_msg("the profile has no such stack");
    return NULL;
}

/* Task 2 waits from before the trace on; then it is in a system call. */
static void
run_away(bool sleeps)
{
    begin_tasks();
    if (sleeps)
        P(1, SLEEP, DEEP, .lock = 0);
    P(0, TRACE_START, LEAF, .lock = 0);
    if (!sleeps) {
        P(1, PROC_START, NOWHERE, .lock = 0);
        P(1, RUN, NOWHERE, .object = 2);
        P(1, SYSCALL, DEEP, .lock = 0);
        P(1, SYSBLOCK, NOWHERE, .lock = 0);
    }
    P(0, GOROUTINES, LEAF, .lock = 0);
    P(0, GOROUTINES, LEAF, .lock = 0);
    if (!sleeps) {
        P(0, LEFT, NOWHERE, .object = 2);
        P(1, PROC_START, NOWHERE, .lock = 0);
        P(1, RUN, NOWHERE, .object = 2);
    }
    P(0, TRACE_STOP, LEAF, .lock = 0);
    P(0, READ, NOWHERE, .lock = 0);
}

/* With a tick every 100 us, a span of 80 us may contain one or none: that
 * depends on when the timer began. The tick at 100 us is task 3's. Task 1 ran
 * only until 90 us. */
static void
run_ticks(void)
{
    begin_tasks();
    P(0, TRACE_START, LEAF, .lock = 0);
    P(0, CPU_START, NOWHERE, .size_bytes = 10000);
    P(0, YIELD, LEAF, .lock = 0, .delay_ticks = 60000);
    P(0, RUN, NOWHERE, .object = 1, .delay_ticks = 10000);
    P(0, YIELD, LEAF, .lock = 0, .delay_ticks = 20000);
    P(0, RUN, NOWHERE, .object = 3, .delay_ticks = 1000);
    P(0, CPU_STOP, NOWHERE, .lock = 0, .delay_ticks = 100000);
    P(0, TRACE_STOP, LEAF, .lock = 0);
    P(0, READ, NOWHERE, .lock = 0);
}

/* Make three collections before a snapshot. */
static void
run_collections(void)
{
    begin_tasks();
    begin_trace();
    T(1, ALLOC, LEAF, .object = 0, .size_bytes = 64);
    T(2, ALLOC, DEEP, .object = 1, .size_bytes = 64);
    for (uint32_t i = 0; i < 4; i++) {
        T(1, ALLOC, LEAF, .object = 2 + i, .size_bytes = 64);
        collect(0);
    }
    P(0, GC_MARK, LEAF, .lock = 0);
    P(0, SNAPSHOT_ALL, NOWHERE, .lock = 0);
    P(0, SNAPSHOT_ALL, NOWHERE, .lock = 0);
    P(0, GC_TERMINATE, NOWHERE, .lock = 0);
    P(0, TRACE_STOP, LEAF, .lock = 0);
    P(0, READ, NOWHERE, .lock = 0);
}

/* Run a trace, then events that are not traced, then another trace. */
static void
run_two_sessions(void)
{
    begin_tasks();
    begin_trace();
    P(0, TRACE_STOP, LEAF, .lock = 0);
    P(0, READ, NOWHERE, .lock = 0);
    P(0, CPU_START, NOWHERE, .size_bytes = 100);
    for (uint32_t i = 0; i < 12; i++)
        T(1, ALLOC, LEAF, .object = i, .size_bytes = 16);
    P(0, GOROUTINES, OTHER, .lock = 0);
    begin_trace();
    T(1, ALLOC, LEAF, .object = 12, .size_bytes = 16);
    P(0, CPU_STOP, NOWHERE, .lock = 0);
    P(0, TRACE_STOP, LEAF, .lock = 0);
    P(0, READ, NOWHERE, .lock = 0);
    collect(0);
    P(0, SNAPSHOT_ALL, NOWHERE, .lock = 0);
}

/* ---- What is changed afterwards ---- */

/* The entry of a task in the second reading. */
static struct cross_listed *
listed(uint64_t id)
{
    for (uint32_t i = 0; i < cross.readings[1].count; i++) {
        if (cross.readings[1].listed[i].id == id)
            return &cross.readings[1].listed[i];
    }
    fail_msg("task %u is not listed", (unsigned)id);
    return NULL;
}

/* Give ticks of one task to another: the label's value is one of the profile's
 * strings. */
static void
relabel(uint8_t from, uint8_t to)
{
    for (size_t i = 0; i + 2 < cross.sessions[0].cpu_bytes; i++) {
        uint8_t *at = &cross.sessions[0].cpu[i];

        if (at[0] == 0x32 && at[1] == 1 && at[2] == from)
            at[2] = to;
        else if (at[0] == 0x32 && at[1] == 1 && at[2] == to)
            at[2] = from;
    }
}

static void
read_lines(void)
{
    assert_true(cross_lines_read(&cross.lines, sim_debug_text(world).bytes,
                                 sim_debug_text(world).bytes_count));
}

static void
other_tasks_allocate(void)
{
    read_lines();
    for (uint32_t i = 0; i < cross.lines.count; i++) {
        if (cross.lines.all[i].kind == CROSS_LINE_ALLOC)
            cross.lines.all[i].g ^= 3;
    }
}

static void
other_procs_allocate(void)
{
    for (uint32_t i = 0; i < cross.origins_count; i++) {
        if (cross.origins[i].kind == SIM_EV_ALLOC)
            cross.origins[i].proc ^= 1;
    }
}

static void
nobody_allocates(void)
{
    read_lines();
    for (uint32_t i = 0; i < cross.lines.frames_count; i++)
        cross.lines.frames[i] ^= 1;
}

/* Move an object from one record to another: the sum stays right. */
static void
move_an_object(void)
{
    struct prof_heap_record *records =
        &cross.records[cross.snapshots[0].records_at];

    records[0].allocs--;
    records[1].allocs++;
}

/* In the trace that was judged, make events of one type those of another. */
static void
retype(int from, int to)
{
    judge();
    assert_holds();
    for (uint32_t i = 0; i < trace.events_count; i++) {
        if ((int)trace.events[i].type == from)
            trace.events[i].type = (uint8_t)to;
    }
    cross_session(&cross, 0, &trace);
}

/* Change the goal of one collection, so that it is not twice the heap. */
static void
change_a_goal(void)
{
    uint32_t goals = 0;

    judge();
    assert_holds();
    for (uint32_t i = 0; i < trace.events_count; i++) {
        if (trace.events[i].type == MODEL_TRACE_NEXT_GC && ++goals == 2)
            trace.events[i].arg++;
    }
    cross_session(&cross, 0, &trace);
}

/* ---- Agreement, and each change noticed ---- */

/* clang-format off */
#define AGREES(name, run) \
    TEST_WITH(set_up, tear_down, name) { run; judge(); assert_holds(); }
#define NOTICED(by, name, run, change) \
    TEST_WITH(set_up, tear_down, name) { run; change; judge(); assert_true(only(PROPS_##by)); }
#define NOTICED_IN_TRACE(by, name, run, change) \
    TEST_WITH(set_up, tear_down, name) { run; change; assert_true(only(PROPS_##by)); }

#define BLOCK_SITE cross.sessions[0].end[PROF_BLOCK].sites[0]
#define MUTEX_SITE cross.sessions[0].end[PROF_MUTEX].sites[0]

/* Task 4 has waited for 4 ms; only in the last one nobody waited before it. */
AGREES(a_queue_is_charged_from_the_hand_over_on, run_queue();
       assert_in_range(site_of(PROF_MUTEX, other)->cycles, 1000000, 1010000))
AGREES(a_task_that_the_trace_knows_nothing_of_stays_where_it_was, run_away(true))
AGREES(a_task_that_comes_out_of_its_system_call_later_is_still_in_it, run_away(false))
AGREES(a_tick_is_that_of_who_ran, run_ticks())
AGREES(each_record_of_a_snapshot_has_its_lines, run_collections())

NOTICED(X1, a_wait_that_is_longer_in_the_profile, run_all(), BLOCK_SITE.cycles += 16)
NOTICED(X1, a_release_that_the_mutex_profile_lacks, run_all(), MUTEX_SITE.count--)
NOTICED(X1, a_wait_at_another_stack, run_all(), BLOCK_SITE.depth--)
NOTICED(X1, a_release_that_is_charged_too_much, run_queue(), site_of(PROF_MUTEX, other)->cycles += 1000000)
NOTICED(X1, a_longer_wait_that_began_before_the_trace, run_queue(), site_of(PROF_BLOCK, deep)->cycles += 32)
NOTICED(X1, a_wait_of_a_task_that_parks_by_itself, run_queue(), site_of(PROF_BLOCK, deep)->count++)
NOTICED(X2, a_snapshot_with_one_allocation_more, run_all(), cross.snapshots[0].allocs += 2)
NOTICED(X2, a_free_that_is_published_while_the_collector_marks, run_collections(), cross.snapshots[1].frees++)
NOTICED(X2, a_flush_at_another_moment, run_all(), cross.controls[1].at.gc_done--)
NOTICED(X2, a_flush_while_the_trace_marks, run_all(), cross.controls[1].at.is_marking = true)
NOTICED_IN_TRACE(X2, a_goal_that_is_not_twice_what_is_left, run_collections(), change_a_goal())
NOTICED_IN_TRACE(X2, a_sweep_that_the_trace_does_not_have, run_all(), retype(MODEL_TRACE_SWEEP_START, MODEL_TRACE_SWEEP_DONE))
NOTICED_IN_TRACE(X2, a_sweep_while_the_trace_marks, run_all(), retype(MODEL_TRACE_GC_DONE, MODEL_TRACE_SCAN_DONE))
NOTICED(X3, a_task_that_the_goroutine_profile_lacks, run_all(), cross.readings[0].count--)
NOTICED(X3, a_task_in_another_state, run_all(), cross.readings[0].listed[1].state = "chan send")
NOTICED(X3, a_task_at_another_place, run_all(), cross.readings[0].listed[0].depth--)
NOTICED(X3, a_reading_at_a_moment_that_the_trace_lacks, run_all(), cross.readings[1].gomaxprocs++)
NOTICED(X3, a_task_elsewhere_than_before_the_trace, run_away(true), listed(2)->stack = leaf; listed(2)->depth = 2)
NOTICED(X3, a_task_that_waits_for_something_else_than_before, run_away(true), listed(2)->state = "chan send")
NOTICED(X3, a_task_that_is_not_in_its_system_call, run_away(false), listed(2)->state = "runnable")
NOTICED(X4, an_allocation_of_another_task, run_all(), other_tasks_allocate())
NOTICED(X4, an_allocation_on_another_processor, run_all(), other_procs_allocate())
NOTICED(X4, objects_that_nobody_allocated, run_all(), nobody_allocates())
NOTICED(X4, an_object_in_another_record, run_collections(), move_an_object())
NOTICED(X4, a_record_that_a_snapshot_lacks, run_collections(), cross.snapshots[0].records_count--)
NOTICED(X5, ticks_of_another_task, run_all(), relabel('1', '2'))
NOTICED(X5, a_tick_that_the_phase_of_the_timer_forbids, run_ticks(), relabel('3', '1'))
/* clang-format on */

TEST_WITH(set_up, tear_down, what_the_instruments_say_agrees)
{
    static const enum props_cover met[] = {
        COVER_CROSS_BLOCK,    COVER_CROSS_MUTEX,      COVER_CROSS_HEAP_ALLOC,
        COVER_CROSS_SNAPSHOT, COVER_CROSS_GOROUTINES, COVER_CROSS_ALLOCATOR,
        COVER_CROSS_CPU,
    };

    run_all();
    judge();
    assert_holds();
    for (size_t i = 0; i < sizeof met / sizeof *met; i++) {
        if (coverage.hits[met[i]] == 0)
            fail_msg("%s", props_cover_text(met[i]));
    }
}

/* ---- Without one ---- */

TEST_WITH(set_up, tear_down, without_one_the_others_say_the_same)
{
    struct cross_without without = {.limits = limits};

    run_all();
    for (int i = 0; SIM_ALL_INSTRUMENTS >> i != 0; i++) {
        if (!cross_without_try(&without, &config, script, script_count,
                               (enum sim_instrument_id)i))
            fail_msg("%s", without.difference);
    }
    cross_without_release(&without);
}

TEST_WITH(set_up, tear_down,
          each_is_stopped_and_started_and_the_others_say_the_same)
{
    struct cross_without without = {.limits = limits};

    run_two_sessions();
    for (int i = 0; SIM_ALL_INSTRUMENTS >> i != 0; i++) {
        if (!cross_without_try(&without, &config, script, script_count,
                               (enum sim_instrument_id)i))
            fail_msg("%s", without.difference);
        assert_int_equal(without.switches, 2);
    }
    cross_without_release(&without);
}

/* An instrument that was stopped has not recorded events in between. */
TEST_WITH(set_up, tear_down, what_is_stopped_records_nothing)
{
    struct cross_without without = {.limits = limits};
    struct sim_answer *answer;

    run_two_sessions();
    assert_true(cross_without_try(&without, &config, script, script_count,
                                  SIM_HEAP_PROFILE));
    answer = sim_world_answer_room(without.stopped);
    assert_int_equal(answer->count, 1);
    assert_in_range(answer->heap[0].allocs, 1, 12);
    assert_true(cross_without_try(&without, &config, script, script_count,
                                  SIM_DEBUG_LINES));
    assert_in_range(sim_debug_text(without.stopped).events, 1,
                    sim_debug_text(without.whole).events - 1);
    cross_without_release(&without);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
