/*
 * test_tracer_clock.c -- clocks at their ends: the first session may begin at
 * any reading, and a frequency may be the largest number there is.
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

static const struct prof_trace_config small = {
    .procs_max = 4,
    .buffers_max = 64,
    .buffer_bytes = 512,
    .stacks_max = 64,
};

static const struct prof_trace_task caller = {.id = 1};

static struct tracer_lab lab;

static int
a_tracer(void **state)
{
    (void)state;
    tracer_lab_open(&lab, &small);
    return 0;
}

static int
no_tracer(void **state)
{
    (void)state;
    tracer_lab_close(&lab);
    return 0;
}

static void
begin(void)
{
    tracer_lab_forget(&lab);
    assert_int_equal(tracer_lab_start(&lab, &caller, 1), PROF_OK);
}

static void
end(void)
{
    assert_int_equal(tracer_lab_stop(&lab), PROF_OK);
    tracer_lab_decode(&lab);
}

/* What was before the first session is not later than it. */
static void
a_clock_may_begin_anywhere(void **state)
{
    static const uint64_t starts[] = {0, INT64_MAX, UINT64_C(1) << 63,
                                      UINT64_MAX - 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        tracer_lab_close(&lab);
        tracer_lab_open(&lab, &small);
        lab.ticks = starts[i];
        begin();
        tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 1);
        lab.ticks += 64000; /* and the 64 of the reading */
        tracer_lab_emit(&lab, 0, PROF_EV_HEAP_ALLOC, 2);
        end();
        assert_int_equal(
            tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 1)->ticks -
                tracer_lab_find(&lab, MODEL_TRACE_HEAP_ALLOC, 0)->ticks,
            1001);
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
        {9223372036, 1, INT64_C(9223372036000000000)},
        {9223372037, 1, INT64_MAX},
        {INT64_MAX, 1, INT64_MAX},
    };
    struct prof_trace_config config = small;

    (void)state;
    config.tick_divisor = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracer_lab_close(&lab);
        tracer_lab_open(&lab, &config);
        lab.tick_step = 0;
        begin();
        lab.ticks += rows[i].ticks;
        lab.ns += rows[i].ns - rows[i].ticks; /* ns() adds the ticks */
        assert_int_equal(tracer_lab_stop(&lab), PROF_OK);
        assert_int_equal(tracer_lab_read(&lab), PROF_ERR_END);
        model_trace_read(&lab.decoded, lab.bytes, lab.bytes_count);
        assert_int_equal(lab.decoded.ticks_per_second, rows[i].want);
    }
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, a_tracer, no_tracer)
    const struct CMUnitTest tests[] = {
        TEST(a_clock_may_begin_anywhere),
        TEST(a_frequency_beyond_the_largest_number_is_that_number),
    };

    int failed = cmocka_run_group_tests_name("stamps", tests, NULL, NULL);

    tracer_lab_order = PROF_TRACE_ORDER_CLOCK;
    failed += cmocka_run_group_tests_name("clock", tests, NULL, NULL);
    return failed;
}
