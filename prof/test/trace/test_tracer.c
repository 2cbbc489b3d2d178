/*
 * test_tracer.c -- sessions of the tracer with one thread, in both orders of
 * events: model/'s reader finds in the file exactly the events that were
 * emitted, at the times of the clock.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/test/aligned_block.h"
#include "prof/test/trace/tracer_case.h"
#include "common/test/unit_test.h"

static const uintptr_t frames[] = {0x401005, 0x402005, UINTPTR_MAX, 0};

static const struct prof_trace_task tasks[] = {
    {.id = 1, .start_pc = 0x400000},
    {.id = 2, .start_pc = 0x400100, .stack = frames, .depth = 2},
    {.id = 3, .start_pc = 0x400200, .state = PROF_TASK_WAITING},
    {.id = 4, .start_pc = 0x400300, .state = PROF_TASK_IN_SYSCALL},
};

enum { TASKS = sizeof tasks / sizeof *tasks };

TRACER_TEST(a_session_begins_with_the_world_as_it_is)
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

    tracer_begin(tasks, TASKS);
    assert_true(prof_trace_is_on(one.trace));
    tracer_end();
    assert_false(prof_trace_is_on(one.trace));
    assert_int_equal(model_trace_count(&one.decoded), count);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_trace_event *event = model_trace_at(&one.decoded, i);

        assert_int_equal(event->type, want[i].type);
        if (want[i].type != MODEL_TRACE_GO_WAITING &&
            want[i].type != MODEL_TRACE_GO_IN_SYSCALL)
            assert_int_equal(event->arg, want[i].arg);
        else
            assert_int_equal(event->g, want[i].arg);
    }
}

TRACER_TEST(a_stack_deeper_than_the_limit_is_cut_and_one_as_deep_is_not)
{
    uintptr_t deep[PROF_TRACE_DEPTH_LIMIT + 1];
    uint64_t pcs[MODEL_TRACE_FRAMES_MAX];

    for (uint32_t i = 0; i <= PROF_TRACE_DEPTH_LIMIT; i++)
        deep[i] = UINTPTR_MAX - i;
    tracer_begin(tasks, TASKS);
    prof_trace_emit(one.trace, 0, PROF_EV_GO_SYSCALL, NULL, deep,
                    PROF_TRACE_DEPTH_LIMIT);
    prof_trace_emit(one.trace, 0, PROF_EV_GO_SYSCALL, NULL, deep,
                    PROF_TRACE_DEPTH_LIMIT + 1);
    tracer_end();
    assert_int_equal(
        model_trace_stack(&one.decoded,
                          tracer_find(MODEL_TRACE_GO_SYS_CALL, 1)->stack, pcs),
        PROF_TRACE_DEPTH_LIMIT);
    assert_int_equal(pcs[PROF_TRACE_DEPTH_LIMIT - 1],
                     deep[PROF_TRACE_DEPTH_LIMIT - 1]);
    assert_int_equal(tracer_find(MODEL_TRACE_GO_SYS_CALL, 0)->stack,
                     tracer_find(MODEL_TRACE_GO_SYS_CALL, 1)->stack);
}

TRACER_TEST(the_frequency_is_that_of_the_clock)
{
    static const struct {
        const char *why;
        uint64_t ticks; /* during the session */
        uint64_t ns;
        int64_t want;
    } rows[] = {
        {"1 GHz", 1000000000, 1000000000, 1000000000 / 64},
        {"3 GHz for a year", UINT64_C(3000000000) * 31536000,
         UINT64_C(31536000000000000), 3000000000 / 64},
        {"less than one", 63, 1000000000, 1},
        {"time stands still", 1000, 0, 1},
        {"ticks run backwards", (uint64_t)-1000, 1000, 1},
        {"time runs backwards", 1000, (uint64_t)-1000, 1},
        /* The product has 93 bits: the result is just below 2^63, or beyond
         * it. */
        {"as many as there are", 9223372036, 1, INT64_C(144115188062500000)},
        {"too many by few", 9223372037, 1, INT64_MAX / 64},
        {"too many by far", INT64_MAX, 1, INT64_MAX / 64},
        {"3 GHz for 73 years", UINT64_C(3) << 61, UINT64_C(1) << 61,
         3000000000 / 64},
        {"less than half a GHz by a tick", INT64_MAX / 2, INT64_MAX,
         500000000 / 64 - 1},
    };

    one.tick_step = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracer_begin(tasks, TASKS);
        one.ticks += rows[i].ticks;
        one.ns += rows[i].ns - rows[i].ticks; /* ns() adds the ticks */
        assert_int_equal(tracer_stop(), PROF_OK);
        assert_int_equal(tracer_read(), PROF_ERR_END);
        model_trace_read(&one.decoded, one.bytes, one.bytes_count);
        if (one.decoded.ticks_per_second != rows[i].want)
            fail_msg("%s: %lld", rows[i].why,
                     (long long)one.decoded.ticks_per_second);
    }
}

/* ---- clocks ---- */

static const struct prof_trace_task two[] = {
    {.id = 1}, {.id = 4, .state = PROF_TASK_IN_SYSCALL}};

/* The clock may begin at any reading: the time before the first session must
 * not count as later. */
TRACER_TEST(a_clock_may_begin_anywhere)
{
    static const uint64_t starts[] = {0, INT64_MAX, UINT64_C(1) << 63,
                                      UINT64_MAX - 1000000};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        tracer_open(&tracer_small);
        one.ticks = starts[i];
        tracer_begin(two, 2);
        tracer_emit(0, PROF_EV_HEAP_ALLOC, 1);
        one.ticks += 64000; /* the reading adds 64 */
        tracer_emit(0, PROF_EV_HEAP_ALLOC, 2);
        tracer_end();
        assert_int_equal(tracer_find(MODEL_TRACE_HEAP_ALLOC, 1)->ticks -
                             tracer_find(MODEL_TRACE_HEAP_ALLOC, 0)->ticks,
                         1001);
    }
}

/* In the file tick 0 means an unknown time. A moment at tick 0 must still be
 * kept. */
TRACER_TEST(a_return_at_the_tick_0_keeps_its_moment)
{
    struct prof_trace_config config = tracer_small;
    struct prof_trace_stamp left;
    const struct model_trace_event *event;

    config.tick_divisor = 1;
    tracer_open(&config);
    one.ticks = UINT64_MAX - 100000;
    tracer_begin(two, 2);
    one.ticks = UINT64_MAX;
    left = prof_trace_stamp(one.trace);
    assert_int_equal(left.ticks, 0);
    tracer_emit(0, PROF_EV_HEAP_ALLOC, 1);
    prof_trace_sysexit(one.trace, 0, 4, left);
    tracer_end();
    event = tracer_find(MODEL_TRACE_GO_SYS_EXIT, 0);
    assert_true(event->seq < tracer_find(MODEL_TRACE_HEAP_ALLOC, 0)->seq);
    assert_int_equal(event->ticks, 1);
}

/* With 1024 processors 11 of the 63 bits of a number are its lane. */
#define PROCS         1024
#define NUMBERS_TICKS (UINT64_C(1) << (63 - 11))

static void
open_for_many_processors(void)
{
    struct prof_trace_config config = tracer_small;

    config.procs_max = PROCS;
    config.buffers_max = 2 * PROCS;
    tracer_open(&config);
}

/* The second session begins some 17 days (at 3 GHz) after the first. Its
 * numbers must begin as low as those of the first; the moment of a return that
 * was noted in the first session counts as the present. */
TRACER_TEST(numbers_do_not_grow_from_session_to_session)
{
    struct prof_trace_stamp old;

    for (uint64_t before = 0; before < 640; before += 64) {
        open_for_many_processors();
        tracer_begin(two, 2);
        old = prof_trace_stamp(one.trace);
        tracer_end();
        one.ticks += NUMBERS_TICKS - before;
        tracer_begin(two, 2);
        tracer_emit(0, PROF_EV_HEAP_ALLOC, 1);
        prof_trace_sysexit(one.trace, 0, 4, old);
        tracer_emit(PROCS - 1, PROF_EV_HEAP_ALLOC, 2);
        tracer_end();
        assert_true(tracer_find(MODEL_TRACE_GO_SYS_EXIT, 0)->seq >
                    tracer_find(MODEL_TRACE_HEAP_ALLOC, 0)->seq);
        assert_true(tracer_find(MODEL_TRACE_GO_SYS_EXIT, 0)->seq <
                    tracer_find(MODEL_TRACE_HEAP_ALLOC, 1)->seq);
    }
}

/* A session that has used half of its numbers ends when the buffers in use are
 * full, without gaps. In the order of stamps numbers do not depend on the
 * clock, so it does not end. */
TRACER_TEST(a_session_ends_before_its_numbers_do)
{
    enum { EVENTS = 1000 };

    for (uint64_t before = 0; before < 3; before++) {
        const bool ends = tracer_order == PROF_TRACE_ORDER_CLOCK && before == 0;

        open_for_many_processors();
        tracer_begin(two, 2);
        one.ticks += NUMBERS_TICKS / 2 - 2 * EVENTS * one.tick_step * before;
        for (uint64_t i = 0; i < EVENTS; i++)
            tracer_emit(0, PROF_EV_HEAP_ALLOC, i);
        assert_int_equal(prof_trace_drops(one.trace).no_buffer > 0, ends);
        tracer_end();
        assert_non_null(tracer_find(MODEL_TRACE_HEAP_ALLOC, 0));
    }
}

/* Check the numbers byte by byte against docs/trace-format.md. */
TRACER_TEST(the_last_records_are_the_frequency_and_the_timers)
{
    static const uint8_t frequency[] = {0x02, 1, 0};
    static const uint8_t both[] = {0x02, 1, 0, 0x23, 99, 0};

    one.tick_step = 0; /* the clock stands still: one tick a second */
    tracer_begin(two, 2);
    tracer_end();
    assert_memory_equal(&one.bytes[one.bytes_count - sizeof frequency],
                        frequency, sizeof frequency);
    prof_trace_timer_task(one.trace, 99);
    tracer_begin(two, 2);
    tracer_end();
    assert_memory_equal(&one.bytes[one.bytes_count - sizeof both], both,
                        sizeof both);
}

/*
 * In the order of the clock, and with the processor's own counter, most events
 * are written by a fast path; not if the tick divisor is no power of two. Each
 * event must be read back with its number, of any length, and its time: a
 * sequence number is the clock with 2 bits of the lane behind it, so the ticks
 * of the file advance as the clock does, divided by the divisor.
 */
TEST(numbers_of_every_length_are_read_back_by_the_counter)
{
    static const uint32_t divisors[] = {1, 64, 3};

    for (size_t row = 0; row < 3; row++) {
        const struct prof_trace_config config = {.procs_max = 2,
                                                 .buffers_max = 16,
                                                 .buffer_bytes = 4096,
                                                 .stacks_max = 16,
                                                 .tick_divisor = divisors[row],
                                                 .order =
                                                     PROF_TRACE_ORDER_CLOCK};
        const struct timespec pause = {.tv_nsec = 20000000};
        const struct model_trace_event *first;

        (void)tracer_case_begin(state);
        free(one.trace);
        assert_int_equal(
            prof_trace_init(&one.trace, &config,
                            props_block(prof_trace_bytes_needed(&config), 0),
                            prof_trace_bytes_needed(&config)),
            PROF_OK);
        tracer_begin(two, 1);
        for (uint64_t bit = 0; bit < 64; bit++) {
            tracer_emit(0, PROF_EV_HEAP_ALLOC, (UINT64_C(1) << bit) - 1);
            tracer_emit(0, PROF_EV_HEAP_ALLOC, ~(UINT64_C(1) << bit));
        }
        prof_trace_emit(one.trace, 0, PROF_EV_GC_SCAN_START, NULL, NULL, 0);
        nanosleep(&pause, NULL); /* many ticks */
        prof_trace_emit(one.trace, 0, PROF_EV_GC_SCAN_DONE, NULL, NULL, 0);
        tracer_end();
        for (uint32_t i = 0; i < 128; i++)
            assert_true(tracer_find(MODEL_TRACE_HEAP_ALLOC, i)->arg ==
                        (i % 2 == 0 ? (UINT64_C(1) << i / 2) - 1
                                    : ~(UINT64_C(1) << i / 2)));
        first = model_trace_at(&one.decoded, 0);
        for (uint32_t i = 1; i < model_trace_count(&one.decoded); i++) {
            const struct model_trace_event *event =
                model_trace_at(&one.decoded, i);
            const int64_t clock = (event->seq >> 2) - (first->seq >> 2);

            assert_true(llabs((event->ticks - first->ticks) * divisors[row] -
                              clock) < divisors[row]);
        }
        (void)tracer_case_end(state);
    }
}

/* ---- configurations ---- */

TRACER_TEST(a_configuration_out_of_range_is_refused)
{
    static const struct prof_trace_config wrong[] = {
        {.buffers_max = 2},                 /* no processor */
        {.procs_max = 4, .buffers_max = 5}, /* a buffer too few */
        {.procs_max = 1, .buffers_max = 3, .order = 2},
        {.procs_max = 65537, .buffers_max = 1 << 20},
        {.procs_max = 1, .buffers_max = (1 << 24) + 1},
        {.procs_max = 1, .buffers_max = 3, .stacks_max = UINT32_MAX},
        {.procs_max = 1, .buffers_max = 3, .frames_max = UINT64_MAX},
        {.procs_max = 1,
         .buffers_max = 3,
         .buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN - 1},
        {.procs_max = 1, .buffers_max = 3, .buffer_bytes = (1U << 30) + 1},
    };
    const struct prof_trace_config zeros = {.procs_max = 2, .buffers_max = 4};
    struct prof_trace_config named = zeros;
    const size_t bytes = prof_trace_bytes_needed(&tracer_small);
    unsigned char *const block = props_block(bytes + 64, 0);
    struct prof_trace *trace = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(prof_trace_bytes_needed(&wrong[i]), 0);
        assert_int_equal(prof_trace_init(&trace, &wrong[i], block, bytes),
                         PROF_ERR_CONFIG);
    }
    assert_int_equal(prof_trace_init(&trace, &tracer_small, block, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_trace_init(&trace, &tracer_small, block + 8, bytes),
                     PROF_ERR_MEMORY);
    assert_null(trace);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(block[i], 0);
    free(block);
    named.stacks_max = 16384;
    named.frames_max = UINT64_C(16384) * 32;
    named.buffer_bytes = PROF_TRACE_BUFFER_BYTES;
    assert_int_equal(prof_trace_bytes_needed(&zeros),
                     prof_trace_bytes_needed(&named));
}

int
main(void)
{
    const int failed = tests_run(NULL, NULL);

    tracer_order = PROF_TRACE_ORDER_CLOCK;
    return failed + tests_run(NULL, NULL);
}
