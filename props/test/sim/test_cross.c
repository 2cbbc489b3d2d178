/*
 * test_cross.c -- the instruments of one world agree, and each check notices if
 * the result of one is changed (X1, X3, X5; test_cross_heap.c tests the heap).
 */
#include "cross_fixture.h"

#include <stdio.h>
#include <string.h>

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

TEST_WITH(set_up, tear_down, a_wait_that_is_longer_in_the_profile_is_noticed)
{
    run_all();
    assert_int_equal(cross.sessions[0].end[PROF_BLOCK].count, 1);
    assert_int_equal(cross.sessions[0].end[PROF_BLOCK].sites[0].cycles,
                     5001000);
    cross.sessions[0].end[PROF_BLOCK].sites[0].cycles += 16;
    judge();
    assert_true(only(PROPS_X1));
}

TEST_WITH(set_up, tear_down, a_release_that_the_mutex_profile_lacks_is_noticed)
{
    run_all();
    assert_int_equal(cross.sessions[0].end[PROF_MUTEX].count, 1);
    cross.sessions[0].end[PROF_MUTEX].sites[0].count--;
    judge();
    assert_true(only(PROPS_X1));
}

TEST_WITH(set_up, tear_down, a_wait_at_another_stack_is_noticed)
{
    run_all();
    cross.sessions[0].end[PROF_BLOCK].sites[0].depth--;
    judge();
    assert_true(only(PROPS_X1));
}

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

TEST_WITH(set_up, tear_down,
          who_waits_behind_another_is_charged_from_the_hand_over_on)
{
    run_queue();
    judge();
    assert_holds();
    /* Task 4 has waited for 4 ms; only in the last one nobody waited before
     * it. */
    assert_in_range(site_of(PROF_MUTEX, other)->cycles, 1000000, 1010000);
    site_of(PROF_MUTEX, other)->cycles += 1000000;
    judge();
    assert_true(only(PROPS_X1));
}

TEST_WITH(set_up, tear_down, a_wait_that_began_before_the_trace_is_compared)
{
    run_queue();
    site_of(PROF_BLOCK, deep)->cycles += 32;
    judge();
    assert_true(only(PROPS_X1));
}

TEST_WITH(set_up, tear_down,
          a_wait_of_a_task_that_parks_by_itself_is_not_of_the_profile)
{
    run_queue();
    site_of(PROF_BLOCK, deep)->count++;
    judge();
    assert_true(only(PROPS_X1));
}

TEST_WITH(set_up, tear_down, a_task_that_the_goroutine_profile_lacks_is_noticed)
{
    run_all();
    cross.readings[0].count--;
    judge();
    assert_true(only(PROPS_X3));
}

TEST_WITH(set_up, tear_down, a_task_in_another_state_is_noticed)
{
    run_all();
    cross.readings[0].listed[1].state = "chan send";
    judge();
    assert_true(only(PROPS_X3));
}

TEST_WITH(set_up, tear_down, a_task_at_another_place_is_noticed)
{
    run_all();
    cross.readings[0].listed[0].depth--;
    judge();
    assert_true(only(PROPS_X3));
}

TEST_WITH(set_up, tear_down,
          a_reading_at_a_moment_that_the_trace_lacks_is_noticed)
{
    run_all();
    assert_int_equal(cross.readings_count, 2);
    cross.readings[1].gomaxprocs++;
    judge();
    assert_true(only(PROPS_X3));
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

TEST_WITH(set_up, tear_down,
          a_task_that_the_trace_knows_nothing_of_stays_where_it_was)
{
    run_away(true);
    judge();
    assert_holds();
    assert_int_equal(coverage.hits[COVER_CROSS_STAND_BEFORE], 1);
    listed(2)->stack = leaf;
    listed(2)->depth = 2;
    judge();
    assert_true(only(PROPS_X3));
}

TEST_WITH(set_up, tear_down,
          a_task_that_waits_for_something_else_than_before_is_noticed)
{
    run_away(true);
    listed(2)->state = "chan send";
    judge();
    assert_true(only(PROPS_X3));
}

TEST_WITH(set_up, tear_down,
          a_task_that_comes_out_of_its_system_call_later_is_still_in_it)
{
    run_away(false);
    judge();
    assert_holds();
    listed(2)->state = "runnable";
    judge();
    assert_true(only(PROPS_X3));
}

TEST_WITH(set_up, tear_down, ticks_of_another_task_are_noticed)
{
    run_all();
    /* The label's value is one of the profile's strings. */
    for (size_t i = 0; i + 2 < cross.sessions[0].cpu_bytes; i++) {
        uint8_t *at = &cross.sessions[0].cpu[i];

        if (at[0] == 0x32 && at[1] == 1 && at[2] == '1')
            at[2] = '2';
        else if (at[0] == 0x32 && at[1] == 1 && at[2] == '2')
            at[2] = '1';
    }
    judge();
    assert_true(only(PROPS_X5));
}

/* With a tick every 100 us, a span of 80 us may contain one or none: that
 * depends on when the timer began. */
TEST_WITH(set_up, tear_down,
          a_tick_that_the_phase_of_the_timer_forbids_is_noticed)
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
    judge();
    assert_holds();
    assert_int_equal(coverage.hits[COVER_CROSS_CPU], 1);
    /* The tick at 100 us is task 3's. Task 1 ran only until 90 us. */
    for (size_t i = 0; i + 2 < cross.sessions[0].cpu_bytes; i++) {
        uint8_t *at = &cross.sessions[0].cpu[i];

        if (at[0] == 0x32 && at[1] == 1 && at[2] == '3')
            at[2] = '1';
    }
    judge();
    assert_true(only(PROPS_X5));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
