/*
 * test_tracer_clock.c -- clocks at their ends: the first session may begin at
 * any reading, a moment may be tick 0, and a frequency may be the largest
 * number there is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prof/prof.h"
#include "tracer_lab.h"

static const struct prof_trace_task tasks[] = {
    {.id = 1}, {.id = 4, .state = PROF_TASK_IN_SYSCALL}};

static struct tracer_lab lab;

/* What was before the first session is not later than it. */
static void
a_clock_may_begin_anywhere(void **state)
{
    static const uint64_t starts[] = {0, INT64_MAX, UINT64_C(1) << 63,
                                      UINT64_MAX - 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        tracer_lab_close(&lab);
        tracer_lab_open(&lab, &tracer_lab_small);
        lab.ticks = starts[i];
        tracer_lab_begin(&lab, tasks, 2);
        tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 1);
        lab.ticks += 64000; /* and the 64 of the reading */
        tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 2);
        tracer_lab_end(&lab);
        assert_int_equal(
            tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 1)->ticks -
                tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 0)->ticks,
            1001);
    }
}

/* The two clocks are read side by side, however long a start and a stop are. */
static void
a_tick_for_each_nanosecond_is_1_ghz(void **state)
{
    (void)state;
    for (lab.tick_step = 1; lab.tick_step < 1000; lab.tick_step *= 7) {
        tracer_lab_begin(&lab, tasks, 2);
        tracer_lab_emit(&lab, 1, PROF_EV_HEAP_ALLOC, 1);
        tracer_lab_end(&lab);
        assert_int_equal(lab.decoded.ticks_per_second, 1000000000 / 64);
    }
}

/* A tick of the file is one of the clock: no division hides the last bit. */
static void
a_frequency_beyond_the_largest_number_is_that_number(void **state)
{
    static const struct {
        uint64_t ticks;
        uint64_t ns;
        int64_t want;
    } rows[] = {
        {INT64_MAX - 1, 1000000000, INT64_MAX - 1},
        {INT64_MAX, 1000000000, INT64_MAX},
        {INT64_MAX, 999999999, INT64_MAX},
        /* Time is known to the nanosecond for 146 years. */
        {(UINT64_C(1) << 62) - 2, (UINT64_C(1) << 62) - 1, 999999999},
        {9223372036, 1, INT64_C(9223372036000000000)},
        {9223372037, 1, INT64_MAX},
        {INT64_MAX, 1, INT64_MAX},
    };
    struct prof_trace_config config = tracer_lab_small;

    (void)state;
    config.tick_divisor = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracer_lab_close(&lab);
        tracer_lab_open(&lab, &config);
        lab.tick_step = 0;
        tracer_lab_begin(&lab, tasks, 2);
        lab.ticks += rows[i].ticks;
        lab.ns += rows[i].ns - rows[i].ticks; /* ns() adds the ticks */
        assert_int_equal(tracer_lab_stop(&lab), PROF_OK);
        assert_int_equal(tracer_lab_read(&lab), PROF_ERR_END);
        model_trace_read(&lab.decoded, lab.bytes, lab.bytes_count);
        assert_int_equal(lab.decoded.ticks_per_second, rows[i].want);
    }
}

/* In the file 0 is an unknown time, which this moment is not. */
static void
a_return_at_the_tick_0_keeps_its_moment(void **state)
{
    struct prof_trace_config config = tracer_lab_small;
    struct prof_trace_stamp left;
    const struct model_trace_event *event;

    (void)state;
    config.tick_divisor = 1;
    tracer_lab_close(&lab);
    tracer_lab_open(&lab, &config);
    lab.ticks = UINT64_MAX - 100000;
    tracer_lab_begin(&lab, tasks, 2);
    lab.ticks = UINT64_MAX;
    left = prof_trace_stamp(lab.trace);
    assert_int_equal(left.ticks, 0);
    tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 1);
    prof_trace_sysexit(lab.trace, 0, 4, left);
    tracer_lab_end(&lab);
    event = tracer_lab_find(&lab, MODEL_TRACE_GO_SYS_EXIT, 0);
    assert_true(event->seq <
                tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
    assert_int_equal(event->ticks, 1);
}

/* Of 63 bits, 11 say which of so many processors an event is of. */
#define PROCS         1024
#define NUMBERS_TICKS (UINT64_C(1) << (63 - 11))

static void
open_for_many_processors(void)
{
    struct prof_trace_config config = tracer_lab_small;

    config.procs_max = PROCS;
    config.buffers_max = 2 * PROCS;
    tracer_lab_close(&lab);
    tracer_lab_open(&lab, &config);
}

/* Some 17 days at 3 GHz after the first session, numbers are as small as then;
 * a return that was noted in the first counts as now. */
static void
numbers_do_not_grow_from_session_to_session(void **state)
{
    struct prof_trace_stamp old;

    (void)state;
    for (uint64_t before = 0; before < 64 * 100; before += 64) {
        open_for_many_processors();
        tracer_lab_begin(&lab, tasks, 2);
        old = prof_trace_stamp(lab.trace);
        tracer_lab_end(&lab);
        tracer_lab_forget(&lab);
        lab.ticks += NUMBERS_TICKS - before;
        tracer_lab_begin(&lab, tasks, 2);
        tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 1);
        prof_trace_sysexit(lab.trace, 0, 4, old);
        tracer_lab_emit(&lab, PROCS - 1, PROF_EV_HEAP_ALLOC, 2);
        tracer_lab_end(&lab);
        assert_true(tracer_lab_find(&lab, MODEL_TRACE_GO_SYS_EXIT, 0)->seq >
                    tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
        assert_true(tracer_lab_find(&lab, MODEL_TRACE_GO_SYS_EXIT, 0)->seq <
                    tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 1)->seq);
    }
}

/* Which is earlier, sequences say, and not the ticks of the file. */
static void
a_moment_before_the_session_is_old_at_any_tick(void **state)
{
    const struct prof_trace_stamp old = {.sequence = 0, .ticks = UINT64_MAX};

    (void)state;
    tracer_lab_begin(&lab, tasks, 2);
    tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 1);
    prof_trace_sysexit(lab.trace, 0, 4, old);
    tracer_lab_end(&lab);
    assert_true(tracer_lab_find(&lab, MODEL_TRACE_GO_SYS_EXIT, 0)->seq >
                tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
}

/* A session that has used half of its numbers ends, gapless, where the buffers
 * at hand are full; in the order of stamps, numbers do not follow the clock. */
static void
a_session_ends_before_its_numbers_do(void **state)
{
    enum { EVENTS = 1000 };

    (void)state;
    for (uint64_t before = 0; before < 3; before++) {
        const bool ends =
            tracer_lab_order == PROF_TRACE_ORDER_CLOCK && before == 0;

        open_for_many_processors();
        tracer_lab_begin(&lab, tasks, 2);
        lab.ticks += NUMBERS_TICKS / 2 - 2 * EVENTS * lab.tick_step * before;
        for (uint64_t i = 0; i < EVENTS; i++)
            tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, i);
        assert_int_equal(prof_trace_drops(lab.trace).no_buffer > 0, ends);
        tracer_lab_end(&lab);
        assert_non_null(tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 0));
    }
}

/* What docs/trace-format.md says of them, byte by byte. */
static void
the_last_records_are_the_frequency_and_the_timers(void **state)
{
    static const uint8_t frequency[] = {0x02, 1, 0};
    static const uint8_t both[] = {0x02, 1, 0, 0x23, 99, 0};

    (void)state;
    lab.tick_step = 0; /* stands still: a tick a second */
    tracer_lab_begin(&lab, tasks, 2);
    tracer_lab_end(&lab);
    assert_memory_equal(&lab.bytes[lab.bytes_count - sizeof frequency],
                        frequency, sizeof frequency);
    assert_int_equal(lab.chunk_ends[lab.chunks - 2],
                     lab.bytes_count - sizeof frequency);
    prof_trace_timer_task(lab.trace, 99);
    tracer_lab_begin(&lab, tasks, 2);
    tracer_lab_end(&lab);
    assert_memory_equal(&lab.bytes[lab.bytes_count - sizeof both], both,
                        sizeof both);
}

int
main(void)
{
#define TEST(name)                                                   \
    cmocka_unit_test_prestate_setup_teardown(name, tracer_lab_setup, \
                                             tracer_lab_teardown, &lab)
    const struct CMUnitTest tests[] = {
        TEST(a_clock_may_begin_anywhere),
        TEST(a_return_at_the_tick_0_keeps_its_moment),
        TEST(numbers_do_not_grow_from_session_to_session),
        TEST(a_session_ends_before_its_numbers_do),
        TEST(a_moment_before_the_session_is_old_at_any_tick),
        TEST(the_last_records_are_the_frequency_and_the_timers),
        TEST(a_tick_for_each_nanosecond_is_1_ghz),
        TEST(a_frequency_beyond_the_largest_number_is_that_number),
    };

    int failed = cmocka_run_group_tests_name("stamps", tests, NULL, NULL);

    tracer_lab_order = PROF_TRACE_ORDER_CLOCK;
    failed += cmocka_run_group_tests_name("clock", tests, NULL, NULL);
    return failed;
}
