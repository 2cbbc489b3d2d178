/*
 * test_tracer.c -- sessions of the tracer with one thread: model/'s reader
 * finds in the file exactly the events that were emitted.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "tracer_fixture.h"
#include "unit_test.h"

static const uintptr_t frames[] = {0x401005, 0x402005, UINTPTR_MAX, 0};

static const struct prof_trace_task tasks[] = {
    {.id = 1, .start_pc = 0x400000},
    {.id = 2, .start_pc = 0x400100, .stack = frames, .depth = 2},
    {.id = 3, .start_pc = 0x400200, .state = PROF_TASK_WAITING},
    {.id = 4, .start_pc = 0x400300, .state = PROF_TASK_IN_SYSCALL},
};

enum { TASKS = sizeof tasks / sizeof *tasks };

static struct tracer_fixture fixture;

static void
a_session_begins_with_the_world_as_it_is(void **state)
{
    static const struct {
        enum model_trace_type type;
        uint64_t arg;
    } want[] = {
        {MODEL_TRACE_GO_CREATE, 1},  {MODEL_TRACE_GO_CREATE, 2},
        {MODEL_TRACE_GO_CREATE, 3},  {MODEL_TRACE_GO_WAITING, 3},
        {MODEL_TRACE_GO_CREATE, 4},  {MODEL_TRACE_GO_IN_SYSCALL, 4},
        {MODEL_TRACE_PROC_START, 7}, {MODEL_TRACE_GO_START, 1},
        {MODEL_TRACE_GO_SCHED, 0},
    };
    const uint32_t count = sizeof want / sizeof *want;

    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    assert_true(prof_trace_is_on(fixture.trace));
    tracer_fixture_end(&fixture);
    assert_false(prof_trace_is_on(fixture.trace));
    assert_int_equal(model_trace_count(&fixture.decoded), count);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_trace_event *event =
            model_trace_at(&fixture.decoded, i);

        assert_int_equal(event->type, want[i].type);
        if (want[i].type != MODEL_TRACE_GO_WAITING &&
            want[i].type != MODEL_TRACE_GO_IN_SYSCALL)
            assert_int_equal(event->arg, want[i].arg);
        else
            assert_int_equal(event->g, want[i].arg);
    }
}

static void
every_event_keeps_its_arguments_and_its_stack(void **state)
{
    const uint64_t create[] = {5, UINT64_MAX};
    const uint64_t huge = UINT64_MAX;
    const struct model_trace_event *event;
    uint64_t pcs[MODEL_TRACE_FRAMES_MAX];

    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GO_CREATE, create, frames, 4);
    prof_trace_emit(fixture.trace, 0, PROF_EV_HEAP_ALLOC, &huge, NULL, 0);
    tracer_fixture_end(&fixture);
    event = tracer_fixture_find(&fixture, MODEL_TRACE_GO_CREATE, TASKS);
    assert_int_equal(event->arg, 5);
    assert_int_equal(event->pc, UINT64_MAX);
    assert_int_equal(model_trace_stack(&fixture.decoded, event->stack, pcs), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pcs[i], frames[i]);
    event = tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0);
    assert_int_equal(event->arg, UINT64_MAX);
}

static void
equal_stacks_have_one_number_and_numbers_begin_at_1(void **state)
{
    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    for (int i = 0; i < 3; i++)
        prof_trace_emit(fixture.trace, 0, PROF_EV_GC_SWEEP_START, NULL, frames,
                        1 + (uint32_t)(i % 2)),
            tracer_fixture_emit(&fixture, 0, PROF_EV_GC_SWEEP_DONE, 0);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GC_SWEEP_START, NULL, NULL, 0);
    tracer_fixture_end(&fixture);
    /* Stack 1 is the second task's, with 2 frames. */
    assert_int_equal(fixture.decoded.stack_records, 2);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_SWEEP_START, 0)->stack, 2);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_SWEEP_START, 1)->stack, 1);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_SWEEP_START, 2)->stack, 2);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_SWEEP_START, 3)->stack, 0);
}

static void
a_stack_deeper_than_the_limit_is_cut_and_one_as_deep_is_not(void **state)
{
    uintptr_t deep[PROF_TRACE_DEPTH_LIMIT + 1];
    uint64_t pcs[MODEL_TRACE_FRAMES_MAX];

    (void)state;
    for (uint32_t i = 0; i <= PROF_TRACE_DEPTH_LIMIT; i++)
        deep[i] = UINTPTR_MAX - i;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL, deep,
                    PROF_TRACE_DEPTH_LIMIT);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL, deep,
                    PROF_TRACE_DEPTH_LIMIT + 1);
    tracer_fixture_end(&fixture);
    assert_int_equal(
        model_trace_stack(
            &fixture.decoded,
            tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_CALL, 1)->stack,
            pcs),
        PROF_TRACE_DEPTH_LIMIT);
    assert_int_equal(pcs[PROF_TRACE_DEPTH_LIMIT - 1],
                     deep[PROF_TRACE_DEPTH_LIMIT - 1]);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_CALL, 0)->stack,
        tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_CALL, 1)->stack);
}

static void
an_event_whose_stack_finds_no_room_is_kept_and_counted(void **state)
{
    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    for (uintptr_t i = 1; i <= 100; i++)
        prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL, &i, 1);
    /* 64 stacks fit, and one of them is the second task's. */
    assert_int_equal(prof_trace_drops(fixture.trace).no_stack, 100 - 63);
    tracer_fixture_end(&fixture);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_CALL, 62)->stack, 64);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_CALL, 63)->stack, 0);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_CALL, 99)->stack, 0);
}

static void
a_syscall_exit_stands_where_the_thread_came_back(void **state)
{
    struct prof_trace_stamp left;
    const struct model_trace_event *event;

    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
    left = prof_trace_stamp(fixture.trace);
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 2);
    prof_trace_sysexit(fixture.trace, 0, 4, left);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_SCHED, 0);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_START, 4);
    tracer_fixture_end(&fixture);
    event = tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0);
    assert_int_equal(event->g, 4);
    assert_int_equal(event->ticks, left.ticks);
    assert_true(event->seq >
                tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
    assert_true(event->seq <
                tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 1)->seq);
}

static void
a_return_noted_before_the_session_counts_as_now(void **state)
{
    struct prof_trace_stamp old;
    const struct prof_trace_stamp never = prof_trace_stamp(fixture.trace);
    static const struct prof_trace_task two[] = {
        {.id = 1}, {.id = 5, .state = PROF_TASK_IN_SYSCALL}};

    (void)state;
    assert_int_equal(never.sequence, 0); /* tracing is off */
    tracer_fixture_begin(&fixture, tasks, TASKS);
    old = prof_trace_stamp(fixture.trace);
    tracer_fixture_end(&fixture);
    tracer_fixture_forget(&fixture);
    assert_int_equal(tracer_fixture_start(&fixture, two, 2), PROF_OK);
    prof_trace_sysexit(fixture.trace, 0, 5, old);
    tracer_fixture_end(&fixture);
    assert_true(tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0)->seq >
                tracer_fixture_find(&fixture, MODEL_TRACE_GO_START, 0)->seq);
}

static void
a_return_when_the_clock_reads_0_keeps_its_moment(void **state)
{
    struct prof_trace_stamp left;

    (void)state;
    fixture.ticks = 0;
    fixture.tick_step = 0;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    left = prof_trace_stamp(fixture.trace);
    fixture.ticks = 64000;
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
    prof_trace_sysexit(fixture.trace, 0, 4, left);
    tracer_fixture_end(&fixture);
    assert_true(
        tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0)->ticks <
        tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0)->ticks);
}

static void
processors_that_read_the_clock_at_one_moment_have_different_numbers(
    void **state)
{
    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    fixture.tick_step = 0;
    for (uint64_t i = 0; i < 4; i++) {
        tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, i);
        tracer_fixture_emit(&fixture, 1, PROF_EV_HEAP_ALLOC, i);
        tracer_fixture_emit(&fixture, PROF_TRACE_NO_PROC, PROF_EV_HEAP_ALLOC,
                            i);
    }
    tracer_fixture_end(&fixture); /* also checks that no number comes twice */
    (void)tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 11);
}

static void
nothing_is_traced_while_it_is_off(void **state)
{
    const uint8_t *bytes;
    size_t count;

    (void)state;
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
    tracer_fixture_emit(&fixture, PROF_TRACE_NO_PROC, PROF_EV_HEAP_ALLOC, 1);
    assert_int_equal(prof_trace_read(fixture.trace, &bytes, &count),
                     PROF_ERR_OFF);
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_end(&fixture);
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
    assert_int_equal(prof_trace_read(fixture.trace, &bytes, &count),
                     PROF_ERR_OFF);
    assert_int_equal(prof_trace_drops(fixture.trace).no_buffer, 0);
}

static void
starting_and_stopping_at_the_wrong_time_is_refused(void **state)
{
    (void)state;
    assert_int_equal(tracer_fixture_stop(&fixture), PROF_ERR_OFF);
    tracer_fixture_begin(&fixture, tasks, TASKS);
    assert_int_equal(tracer_fixture_start(&fixture, tasks, TASKS),
                     PROF_ERR_BUSY);
    assert_int_equal(tracer_fixture_stop(&fixture), PROF_OK);
    assert_int_equal(tracer_fixture_stop(&fixture), PROF_ERR_OFF);
    /* The session has not been read to its end. */
    assert_int_equal(tracer_fixture_start(&fixture, tasks, TASKS),
                     PROF_ERR_BUSY);
    tracer_fixture_decode(&fixture);
    assert_int_equal(tracer_fixture_start(&fixture, tasks, TASKS), PROF_OK);
    assert_int_equal(tracer_fixture_stop(&fixture), PROF_OK);
}

static void
a_second_session_knows_nothing_of_the_first(void **state)
{
    uint8_t *first;
    size_t first_bytes;

    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL, &frames[2], 1);
    tracer_fixture_emit(&fixture, 3, PROF_EV_PROC_START, 9);
    tracer_fixture_end(&fixture);
    assert_int_equal(fixture.decoded.stack_records, 2);
    first_bytes = fixture.bytes_count;
    first = malloc(first_bytes);
    assert_non_null(first);
    memcpy(first, fixture.bytes, first_bytes);
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_end(&fixture);
    assert_int_equal(fixture.decoded.stack_records, 1);
    assert_memory_equal(first, fixture.bytes, 16);
    assert_int_equal(model_trace_count(&fixture.decoded), 9);
    free(first);
}

static void
events_of_no_processor_have_a_batch_of_their_own(void **state)
{
    const struct model_trace_event *event;

    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_emit(&fixture, PROF_TRACE_NO_PROC, PROF_EV_GO_UNBLOCK, 3);
    tracer_fixture_end(&fixture);
    event = tracer_fixture_find(&fixture, MODEL_TRACE_GO_UNBLOCK, 0);
    assert_int_equal(event->arg, 3);
    assert_int_equal(model_trace_proc_id(&fixture.decoded, event->proc), -1);
}

static void
the_timer_task_is_named_in_every_session_until_another_is(void **state)
{
    (void)state;
    prof_trace_timer_task(fixture.trace, 2);
    for (int session = 0; session < 2; session++) {
        tracer_fixture_begin(&fixture, tasks, TASKS);
        tracer_fixture_end(&fixture);
        assert_int_equal(model_trace_map_find(&fixture.decoded.timers, 2), 0);
        assert_int_equal(fixture.decoded.timers.count, 1);
    }
    prof_trace_timer_task(fixture.trace, 0);
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_end(&fixture);
    assert_int_equal(fixture.decoded.timers.count, 0);
}

static void
a_wake_up_for_nothing_leaves_the_trace(void **state)
{
    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_UNBLOCK, 3);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_SCHED, 0);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_START, 3);
    tracer_fixture_emit(&fixture, 0, PROF_EV_FUTILE_WAKEUP, 0);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_BLOCK_SYNC, 0);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GO_START, 1);
    tracer_fixture_end(&fixture);
    assert_int_equal(fixture.decoded.futile_events, 4);
    assert_int_equal(model_trace_count(&fixture.decoded), 9 + 2);
}

static void
the_buffer_of_a_processor_that_dies_is_read_before_the_end(void **state)
{
    (void)state;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_emit(&fixture, 2, PROF_EV_PROC_START, 8);
    tracer_fixture_emit(&fixture, 2, PROF_EV_PROC_STOP, 0);
    assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_AGAIN);
    assert_int_equal(fixture.chunks, 1); /* the header only */
    prof_trace_proc_free(fixture.trace, 2);
    assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_AGAIN);
    assert_int_equal(fixture.chunks, 2);
    prof_trace_proc_free(fixture.trace, 2); /* it has no buffer */
    tracer_fixture_end(&fixture);
    assert_int_equal(
        tracer_fixture_find(&fixture, MODEL_TRACE_PROC_STOP, 0)->proc,
        tracer_fixture_find(&fixture, MODEL_TRACE_PROC_START, 1)->proc);
}

static void
a_collection_under_way_at_the_start_may_end(void **state)
{
    (void)state;
    fixture.is_collecting = true;
    tracer_fixture_begin(&fixture, tasks, TASKS);
    tracer_fixture_emit(&fixture, 0, PROF_EV_GC_DONE, 0);
    tracer_fixture_end(&fixture);
    tracer_fixture_find(&fixture, MODEL_TRACE_GC_START, 0);
}

static void
the_frequency_is_that_of_the_clock(void **state)
{
    static const struct {
        const char *why;
        uint64_t ticks; /* during the session */
        uint64_t ns;
        int64_t want;
    } rows[] = {
        {"1 GHz", 1000000000, 1000000000, 1000000000 / 64},
        {"62.5 MHz for an hour", UINT64_C(62500000) * 3600,
         UINT64_C(3600000000000), 62500000 / 64},
        {"3 GHz for a year", UINT64_C(3000000000) * 31536000,
         UINT64_C(31536000000000000), 3000000000 / 64},
        {"one tick a second", 64, 1000000000, 1},
        {"less than one", 63, 1000000000, 1},
        {"time stands still", 1000, 0, 1},
        {"ticks stand still", 0, 1000, 1},
        {"ticks run backwards", (uint64_t)-1000, 1000, 1},
        {"time runs backwards", 1000, (uint64_t)-1000, 1},
        /* The product has 93 bits: the result is just below 2^63, or beyond
         * it. */
        {"as many as there are", 9223372036, 1, INT64_C(144115188062500000)},
        {"too many by few", 9223372037, 1, INT64_MAX / 64},
        {"too many by far", INT64_MAX, 1, INT64_MAX / 64},
        {"1 GHz for 146 years", UINT64_C(1) << 62, UINT64_C(1) << 62,
         1000000000 / 64},
        {"1 GHz for 145 years", (UINT64_C(1) << 62) - 1,
         (UINT64_C(1) << 62) - 1, 1000000000 / 64},
        {"3 GHz for 73 years", UINT64_C(3) << 61, UINT64_C(1) << 61,
         3000000000 / 64},
        {"less than half a GHz by a tick", INT64_MAX / 2, INT64_MAX,
         500000000 / 64 - 1},
    };

    (void)state;
    fixture.tick_step = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracer_fixture_begin(&fixture, tasks, TASKS);
        fixture.ticks += rows[i].ticks;
        fixture.ns += rows[i].ns - rows[i].ticks; /* ns() adds the ticks */
        assert_int_equal(tracer_fixture_stop(&fixture), PROF_OK);
        assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_END);
        model_trace_read(&fixture.decoded, fixture.bytes, fixture.bytes_count);
        if (fixture.decoded.ticks_per_second != rows[i].want)
            fail_msg("%s: %lld", rows[i].why,
                     (long long)fixture.decoded.ticks_per_second);
    }
}

__extension__ typedef unsigned __int128 product;

/* The same, for sessions of any length and clocks of any speed. */
static void
the_frequency_is_the_quotient_of_any_two_times(void **state)
{
    uint64_t seed = 1;

    (void)state;
    fixture.tick_step = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t times[2];
        product hertz;

        for (int j = 0; j < 2; j++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            times[j] = 1 + (seed >> (2 + (seed >> 7) % 60));
        }
        if (i % 10 == 0) {
            times[0] = INT64_MAX - (seed >> 40);
            times[1] = 1 + seed % 5;
        }
        hertz = (product)times[0] * 1000000000 / times[1];
        hertz = (hertz > INT64_MAX ? INT64_MAX : hertz) / 64;
        tracer_fixture_begin(&fixture, tasks, TASKS);
        fixture.ticks += times[0];
        fixture.ns += times[1] - times[0]; /* ns() adds the ticks */
        assert_int_equal(tracer_fixture_stop(&fixture), PROF_OK);
        assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_END);
        model_trace_read(&fixture.decoded, fixture.bytes, fixture.bytes_count);
        assert_int_equal(fixture.decoded.ticks_per_second,
                         hertz != 0 ? hertz : 1);
    }
}

int
main(void)
{
#define WITH(name)                            \
    cmocka_unit_test_prestate_setup_teardown( \
        name, tracer_fixture_setup, tracer_fixture_teardown, &fixture)
    const struct CMUnitTest tests[] = {
        WITH(a_session_begins_with_the_world_as_it_is),
        WITH(every_event_keeps_its_arguments_and_its_stack),
        WITH(equal_stacks_have_one_number_and_numbers_begin_at_1),
        WITH(a_stack_deeper_than_the_limit_is_cut_and_one_as_deep_is_not),
        WITH(an_event_whose_stack_finds_no_room_is_kept_and_counted),
        WITH(a_syscall_exit_stands_where_the_thread_came_back),
        WITH(a_return_noted_before_the_session_counts_as_now),
        WITH(a_return_when_the_clock_reads_0_keeps_its_moment),
        WITH(
            processors_that_read_the_clock_at_one_moment_have_different_numbers),
        WITH(nothing_is_traced_while_it_is_off),
        WITH(starting_and_stopping_at_the_wrong_time_is_refused),
        WITH(a_second_session_knows_nothing_of_the_first),
        WITH(events_of_no_processor_have_a_batch_of_their_own),
        WITH(the_timer_task_is_named_in_every_session_until_another_is),
        WITH(a_wake_up_for_nothing_leaves_the_trace),
        WITH(the_buffer_of_a_processor_that_dies_is_read_before_the_end),
        WITH(a_collection_under_way_at_the_start_may_end),
        WITH(the_frequency_is_that_of_the_clock),
        WITH(the_frequency_is_the_quotient_of_any_two_times),
    };

    int failed = cmocka_run_group_tests_name("stamps", tests, NULL, NULL);

    tracer_fixture_order = PROF_TRACE_ORDER_CLOCK;
    failed += cmocka_run_group_tests_name("clock", tests, NULL, NULL);
    return failed;
}
