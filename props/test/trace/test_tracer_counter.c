/*
 * test_tracer_counter.c -- events in the order of the processor's counter. Most
 * of these are written by a fast path that calls no function. The tests cover
 * arguments of every length, events without arguments, long pauses, and
 * sessions that cannot take the fast path (their tick divisor is no power of
 * two). Each event must be read back as it was emitted, with its time.
 */
#include <stdlib.h>
#include <time.h>

#include "tracer_fixture.h"
#include "unit_test.h"

static const struct prof_trace_task caller = {.id = 1};

enum { NUMBERS_MAX = 3 * 64 };

/* Fill in the numbers around each power of two, with 0 and the largest.
 * returns: how many */
static uint32_t
numbers_of_every_length(uint64_t *numbers)
{
    uint32_t count = 0;

    for (int bit = 0; bit < 64; bit++) {
        const uint64_t power = UINT64_C(1) << bit;

        numbers[count++] = power - 1;
        numbers[count++] = power;
        numbers[count++] = ~power;
    }
    return count;
}

static void
rest_for_a_twentieth_of_a_second(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    nanosleep(&pause, NULL);
}

/* A sequence number is the clock with 2 bits of the lane behind it, so the
 * ticks of the file must advance as the clock does, divided by the divisor. */
static void
check_ticks(const struct tracer_fixture *fixture, uint32_t tick_divisor)
{
    const struct model_trace_event *first =
        model_trace_at(&fixture->decoded, 0);

    for (uint32_t i = 1; i < model_trace_count(&fixture->decoded); i++) {
        const struct model_trace_event *event =
            model_trace_at(&fixture->decoded, i);
        const int64_t clock = (int64_t)((event->seq >> 2) - (first->seq >> 2));
        const int64_t ticks = (event->ticks - first->ticks) * tick_divisor;

        assert_true(llabs(ticks - clock) < tick_divisor);
    }
}

static void
check_divisor(uint32_t tick_divisor)
{
    const struct prof_trace_config config = {.procs_max = 2,
                                             .buffers_max = 16,
                                             .buffer_bytes = 4096,
                                             .stacks_max = 16,
                                             .tick_divisor = tick_divisor};
    uint64_t numbers[NUMBERS_MAX];
    const uint32_t count = numbers_of_every_length(numbers);
    struct tracer_fixture fixture;

    tracer_fixture_open(&fixture, &config);
    tracer_fixture_begin(&fixture, &caller, 1);
    for (uint32_t i = 0; i < count; i++)
        tracer_fixture_emit(&fixture, 0, PROF_EV_HEAP_ALLOC, numbers[i]);
    /* Events without an argument, and one after a pause of many ticks. */
    prof_trace_emit(fixture.trace, 0, PROF_EV_GC_SCAN_START, NULL, NULL, 0);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GC_SCAN_DONE, NULL, NULL, 0);
    prof_trace_emit(fixture.trace, 0, PROF_EV_GC_SWEEP_START, NULL, NULL, 0);
    rest_for_a_twentieth_of_a_second();
    prof_trace_emit(fixture.trace, 0, PROF_EV_GC_SWEEP_DONE, NULL, NULL, 0);
    tracer_fixture_emit(&fixture, 0, PROF_EV_NEXT_GC, 77);
    tracer_fixture_end(&fixture);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_trace_event *event =
            tracer_fixture_find(&fixture, MODEL_TRACE_HEAP_ALLOC, i);

        if (event->arg != numbers[i])
            fail_msg("divisor %u, number %u: %#llx instead of %#llx",
                     tick_divisor, i, (unsigned long long)event->arg,
                     (unsigned long long)numbers[i]);
    }
    assert_true(
        tracer_fixture_find(&fixture, MODEL_TRACE_SWEEP_START, 0)->ticks <
        tracer_fixture_find(&fixture, MODEL_TRACE_SWEEP_DONE, 0)->ticks);
    assert_int_equal(tracer_fixture_find(&fixture, MODEL_TRACE_NEXT_GC, 0)->arg,
                     77);
    check_ticks(&fixture, tick_divisor);
    tracer_fixture_close(&fixture);
}

TEST(numbers_of_every_length_are_read_back)
{
    check_divisor(1);
    check_divisor(64);
    check_divisor(3);
}

int
main(void)
{
    tracer_fixture_order = PROF_TRACE_ORDER_CLOCK;
    tracer_fixture_has_counter = true;
    return tests_run(NULL, NULL);
}
