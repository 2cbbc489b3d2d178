/*
 * test_tracer_clock.c -- extreme clocks: a first session that begins at any
 * reading, an event at tick 0, and the largest possible frequency.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "tracer_fixture.h"
#include "unit_test.h"

static const struct prof_trace_task tasks[] = {
    {.id = 1}, {.id = 4, .state = PROF_TASK_IN_SYSCALL}};

static struct tracer_fixture fixture;

/* The clock may begin at any reading: the time before the first session must
 * not count as later. */
static void
a_clock_may_begin_anywhere(void **state)
{
    static const uint64_t starts[] = {0, INT64_MAX, UINT64_C(1) << 63,
                                      UINT64_MAX - 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        tracer_fixture_close(&fixture);
        tracer_fixture_open(&fixture, &tracer_fixture_small);
        fixture.ticks = starts[i];
        tracer_fixture_begin(&fixture, tasks, 2);
        tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
        fixture.ticks += 64000; /* the reading adds 64 */
        tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 2);
        tracer_fixture_end(&fixture);
        assert_int_equal(
            tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 1)->ticks -
                tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0)->ticks,
            1001);
    }
}

/* The tick and the ns clock are read together, however long a start and a stop
 * take. */
static void
a_tick_for_each_nanosecond_is_1_ghz(void **state)
{
    (void)state;
    for (fixture.tick_step = 1; fixture.tick_step < 1000;
         fixture.tick_step *= 7) {
        tracer_fixture_begin(&fixture, tasks, 2);
        tracer_fixture_emit(&fixture, 1, PROF_EV_HEAP_ALLOC, 1);
        tracer_fixture_end(&fixture);
        assert_int_equal(fixture.decoded.ticks_per_second, 1000000000 / 64);
    }
}

/* With a divisor of 1 a tick of the file is one of the clock, so no bit is
 * lost. */
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
        /* Times in ns are exact for 146 years. */
        {(UINT64_C(1) << 62) - 2, (UINT64_C(1) << 62) - 1, 999999999},
        {9223372036, 1, INT64_C(9223372036000000000)},
        {9223372037, 1, INT64_MAX},
        {INT64_MAX, 1, INT64_MAX},
    };
    struct prof_trace_config config = tracer_fixture_small;

    (void)state;
    config.tick_divisor = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracer_fixture_close(&fixture);
        tracer_fixture_open(&fixture, &config);
        fixture.tick_step = 0;
        tracer_fixture_begin(&fixture, tasks, 2);
        fixture.ticks += rows[i].ticks;
        fixture.ns += rows[i].ns - rows[i].ticks; /* ns() adds the ticks */
        assert_int_equal(tracer_fixture_stop(&fixture), PROF_OK);
        assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_END);
        model_trace_read(&fixture.decoded, fixture.bytes, fixture.bytes_count);
        assert_int_equal(fixture.decoded.ticks_per_second, rows[i].want);
    }
}

/* In the file tick 0 means an unknown time. A moment at tick 0 must still be
 * kept. */
static void
a_return_at_the_tick_0_keeps_its_moment(void **state)
{
    struct prof_trace_config config = tracer_fixture_small;
    struct prof_trace_stamp left;
    const struct model_trace_event *event;

    (void)state;
    config.tick_divisor = 1;
    tracer_fixture_close(&fixture);
    tracer_fixture_open(&fixture, &config);
    fixture.ticks = UINT64_MAX - 100000;
    tracer_fixture_begin(&fixture, tasks, 2);
    fixture.ticks = UINT64_MAX;
    left = prof_trace_stamp(fixture.trace);
    assert_int_equal(left.ticks, 0);
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
    prof_trace_sysexit(fixture.trace, 0, 4, left);
    tracer_fixture_end(&fixture);
    event = tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0);
    assert_true(event->seq <
                tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
    assert_int_equal(event->ticks, 1);
}

/* With 1024 processors 11 of the 63 bits of a number are its lane. */
#define PROCS         1024
#define NUMBERS_TICKS (UINT64_C(1) << (63 - 11))

static void
open_for_many_processors(void)
{
    struct prof_trace_config config = tracer_fixture_small;

    config.procs_max = PROCS;
    config.buffers_max = 2 * PROCS;
    tracer_fixture_close(&fixture);
    tracer_fixture_open(&fixture, &config);
}

/* The second session begins some 17 days (at 3 GHz) after the first. Its
 * numbers must begin as low as those of the first; the moment of a return that
 * was noted in the first session counts as the present. */
static void
numbers_do_not_grow_from_session_to_session(void **state)
{
    struct prof_trace_stamp old;

    (void)state;
    for (uint64_t before = 0; before < 64 * 100; before += 64) {
        open_for_many_processors();
        tracer_fixture_begin(&fixture, tasks, 2);
        old = prof_trace_stamp(fixture.trace);
        tracer_fixture_end(&fixture);
        tracer_fixture_forget(&fixture);
        fixture.ticks += NUMBERS_TICKS - before;
        tracer_fixture_begin(&fixture, tasks, 2);
        tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
        prof_trace_sysexit(fixture.trace, 0, 4, old);
        tracer_fixture_emit(&fixture, PROCS - 1, PROF_EV_HEAP_ALLOC, 2);
        tracer_fixture_end(&fixture);
        assert_true(
            tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0)->seq >
            tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
        assert_true(
            tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0)->seq <
            tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 1)->seq);
    }
}

/* Sequence numbers say which moment is earlier; ticks of the file do not. */
static void
a_moment_before_the_session_is_old_at_any_tick(void **state)
{
    const struct prof_trace_stamp old = {.sequence = 0, .ticks = UINT64_MAX};

    (void)state;
    tracer_fixture_begin(&fixture, tasks, 2);
    tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, 1);
    prof_trace_sysexit(fixture.trace, 0, 4, old);
    tracer_fixture_end(&fixture);
    assert_true(tracer_fixture_find(&fixture, MODEL_TRACE_GO_SYS_EXIT, 0)->seq >
                tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0)->seq);
}

/* A session that has used half of its numbers ends when the buffers in use are
 * full, without gaps. In the order of stamps numbers do not depend on the
 * clock, so it does not end. */
static void
a_session_ends_before_its_numbers_do(void **state)
{
    enum { EVENTS = 1000 };

    (void)state;
    for (uint64_t before = 0; before < 3; before++) {
        const bool ends =
            tracer_fixture_order == PROF_TRACE_ORDER_CLOCK && before == 0;

        open_for_many_processors();
        tracer_fixture_begin(&fixture, tasks, 2);
        fixture.ticks +=
            NUMBERS_TICKS / 2 - 2 * EVENTS * fixture.tick_step * before;
        for (uint64_t i = 0; i < EVENTS; i++)
            tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, i);
        assert_int_equal(prof_trace_drops(fixture.trace).no_buffer > 0, ends);
        tracer_fixture_end(&fixture);
        assert_non_null(
            tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, 0));
    }
}

/* Check the numbers byte by byte against docs/trace-format.md. */
static void
the_last_records_are_the_frequency_and_the_timers(void **state)
{
    static const uint8_t frequency[] = {0x02, 1, 0};
    static const uint8_t both[] = {0x02, 1, 0, 0x23, 99, 0};

    (void)state;
    fixture.tick_step = 0; /* the clock stands still: one tick a second */
    tracer_fixture_begin(&fixture, tasks, 2);
    tracer_fixture_end(&fixture);
    assert_memory_equal(&fixture.bytes[fixture.bytes_count - sizeof frequency],
                        frequency, sizeof frequency);
    assert_int_equal(fixture.chunk_ends[fixture.chunks - 2],
                     fixture.bytes_count - sizeof frequency);
    prof_trace_timer_task(fixture.trace, 99);
    tracer_fixture_begin(&fixture, tasks, 2);
    tracer_fixture_end(&fixture);
    assert_memory_equal(&fixture.bytes[fixture.bytes_count - sizeof both], both,
                        sizeof both);
}

int
main(void)
{
#define WITH(name)                            \
    cmocka_unit_test_prestate_setup_teardown( \
        name, tracer_fixture_setup, tracer_fixture_teardown, &fixture)
    const struct CMUnitTest tests[] = {
        WITH(a_clock_may_begin_anywhere),
        WITH(a_return_at_the_tick_0_keeps_its_moment),
        WITH(numbers_do_not_grow_from_session_to_session),
        WITH(a_session_ends_before_its_numbers_do),
        WITH(a_moment_before_the_session_is_old_at_any_tick),
        WITH(the_last_records_are_the_frequency_and_the_timers),
        WITH(a_tick_for_each_nanosecond_is_1_ghz),
        WITH(a_frequency_beyond_the_largest_number_is_that_number),
    };

    int failed = cmocka_run_group_tests_name("stamps", tests, NULL, NULL);

    tracer_fixture_order = PROF_TRACE_ORDER_CLOCK;
    failed += cmocka_run_group_tests_name("clock", tests, NULL, NULL);
    return failed;
}
