/*
 * test_cross_heap.c -- the checks that compare heap profiles, debug lines of
 * allocations and a trace notice if one of them is changed (X2, X4).
 */
#include "cross_fixture.h"

#include "instrument_debug.h"

TEST_WITH(set_up, tear_down, a_snapshot_with_one_allocation_more_is_noticed)
{
    run_all();
    cross.snapshots[0].allocs += 2;
    judge();
    assert_true(only(PROPS_X2));
}

TEST_WITH(set_up, tear_down, a_line_too_few_is_noticed)
{
    run_all();
    cross.sessions[0].lines_end--;
    judge();
    assert_true((broken & PROPS_BIT(PROPS_X2)) != 0);
}

static void
read_lines(void)
{
    assert_true(cross_lines_read(&cross.lines, sim_debug_text(world).bytes,
                                 sim_debug_text(world).bytes_count));
}

TEST_WITH(set_up, tear_down, an_allocation_of_another_task_is_noticed)
{
    run_all();
    read_lines();
    for (uint32_t i = 0; i < cross.lines.count; i++) {
        if (cross.lines.all[i].kind == CROSS_LINE_ALLOC)
            cross.lines.all[i].g ^= 3;
    }
    judge();
    assert_true(only(PROPS_X4));
}

TEST_WITH(set_up, tear_down, an_allocation_on_another_processor_is_noticed)
{
    run_all();
    for (uint32_t i = 0; i < cross.origins_count; i++) {
        if (cross.origins[i].kind == SIM_EV_ALLOC)
            cross.origins[i].proc ^= 1;
    }
    judge();
    assert_true(only(PROPS_X4));
}

TEST_WITH(set_up, tear_down, objects_that_nobody_allocated_are_noticed)
{
    run_all();
    read_lines();
    for (uint32_t i = 0; i < cross.lines.frames_count; i++)
        cross.lines.frames[i] ^= 1;
    judge();
    assert_true(only(PROPS_X4));
}

/* Make three collections before a snapshot. returns: the snapshot's records */
static struct prof_heap_record *
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
    assert_int_equal(cross.snapshots_count, 2);
    assert_int_equal(cross.snapshots[0].records_count, 2);
    return &cross.records[cross.snapshots[0].records_at];
}

TEST_WITH(set_up, tear_down, each_record_of_a_snapshot_has_its_lines)
{
    (void)run_collections();
    judge();
    assert_holds();
    assert_int_equal(coverage.hits[COVER_CROSS_RECORD], 4);
    assert_int_equal(coverage.hits[COVER_CROSS_MARKING], 1);
}

/* Move an object from one record to another: the sum stays right. */
TEST_WITH(set_up, tear_down, an_object_in_another_record_is_noticed)
{
    struct prof_heap_record *records;

    records = run_collections();
    records[0].allocs--;
    records[1].allocs++;
    judge();
    assert_true(only(PROPS_X4));
}

TEST_WITH(set_up, tear_down, a_record_that_a_snapshot_lacks_is_noticed)
{
    (void)run_collections();
    cross.snapshots[0].records_count--;
    judge();
    assert_true(only(PROPS_X4));
}

TEST_WITH(set_up, tear_down,
          a_free_that_is_published_while_the_collector_marks_is_noticed)
{
    (void)run_collections();
    cross.snapshots[1].frees++;
    judge();
    assert_true(only(PROPS_X2));
}

/* Change the goal of one collection, NextGC, so that it is not twice the
 * heap. */
TEST_WITH(set_up, tear_down, a_goal_that_is_not_twice_what_is_left_is_noticed)
{
    uint32_t goals = 0;

    (void)run_collections();
    judge();
    assert_holds();
    assert_int_equal(coverage.hits[COVER_CROSS_NEXT_GC], 5);
    for (uint32_t i = 0; i < trace.events_count; i++) {
        if (trace.events[i].type == MODEL_TRACE_NEXT_GC && ++goals == 2)
            trace.events[i].arg++;
    }
    cross_session(&cross, 0, &trace);
    assert_true(only(PROPS_X2));
}

TEST_WITH(set_up, tear_down, a_sweep_that_the_trace_does_not_have_is_noticed)
{
    run_all();
    judge();
    assert_holds();
    assert_int_equal(coverage.hits[COVER_CROSS_SWEPT], 1);
    for (uint32_t i = 0; i < trace.events_count; i++) {
        if (trace.events[i].type == MODEL_TRACE_SWEEP_START)
            trace.events[i].type = MODEL_TRACE_SWEEP_DONE;
    }
    cross_session(&cross, 0, &trace);
    assert_true(only(PROPS_X2));
}

/* Move the end of marking in the trace behind the sweep. */
TEST_WITH(set_up, tear_down, a_sweep_while_the_trace_marks_is_noticed)
{
    run_all();
    judge();
    assert_holds();
    for (uint32_t i = 0; i < trace.events_count; i++) {
        if (trace.events[i].type == MODEL_TRACE_GC_DONE &&
            cross.origins_count > 0)
            trace.events[i].type = MODEL_TRACE_SCAN_DONE;
    }
    cross_session(&cross, 0, &trace);
    assert_true(only(PROPS_X2));
}

TEST_WITH(set_up, tear_down, a_flush_at_another_moment_is_noticed)
{
    run_all();
    assert_int_equal(cross.controls_count, 4);
    judge();
    assert_holds();
    assert_int_equal(coverage.hits[COVER_CROSS_CONTROL], 4);
    cross.controls[1].at.gc_done--;
    judge();
    assert_true(only(PROPS_X2));
}

TEST_WITH(set_up, tear_down, a_flush_while_the_trace_marks_is_noticed)
{
    run_all();
    cross.controls[1].at.is_marking = true;
    judge();
    assert_true(only(PROPS_X2));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
