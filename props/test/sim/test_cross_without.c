/*
 * test_cross_without.c -- the results of the other instruments do not change if
 * one instrument is left out, or stopped and started again (X6).
 */
#include "cross_fixture.h"

#include "cross_without.h"
#include "instrument_debug.h"

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

/* If the end of a session has not been read, it is read before the
 * comparison. */
TEST_WITH(set_up, tear_down, what_was_not_read_is_read_before_it_is_compared)
{
    struct cross_without without = {.limits = limits};

    begin_tasks();
    begin_trace();
    T(1, ALLOC, LEAF, .object = 0, .size_bytes = 64);
    if (!cross_without_try(&without, &config, script, script_count, SIM_CPU))
        fail_msg("%s", without.difference);
    assert_true(sim_session(without.whole, 0)->has_ended);
    assert_true(sim_session(without.less, 0)->has_ended);
    assert_true(sim_session(without.stopped, 0)->has_ended);
    cross_without_release(&without);
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
