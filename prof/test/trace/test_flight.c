/*
 * test_flight.c -- the flight recorder, in both orders of events: which
 * generations it keeps; each must be a complete trace file.
 */
#include <stdlib.h>
#include <string.h>

#include "common/test/aligned_block.h"
#include "prof/flight.h"
#include "prof/fork.h"
#include "prof/test/trace/tracer_case.h"
#include "common/test/unit_test.h"

#define FLIGHT_TEST(name) TEST_WITH(set_up, tear_down, name)

/* One is being written, three can be read. */
enum { GENERATIONS = 4, FILE_MAX = 1 << 16 };

static struct prof_flight_config config = {.trace = {.procs_max = 2,
                                                     .buffers_max = 8,
                                                     .buffer_bytes = 256,
                                                     .stacks_max = 16},
                                           .generations_max = GENERATIONS};
static struct prof_flight *flight;
static void *block;
static struct prof_trace_drops losses; /* of the last generation read */

static int
set_up(void **state)
{
    size_t bytes;

    (void)tracer_case_begin(state); /* for its clock */
    config.trace.order = tracer_order;
    config.trace.clock = one.clock;
    bytes = prof_flight_bytes_needed(&config);
    block = props_block(bytes, 0);
    assert_int_equal(prof_flight_init(&flight, &config, block, bytes), PROF_OK);
    return 0;
}

static int
tear_down(void **state)
{
    free(block);
    return tracer_case_end(state);
}

/* ---- the world: task 1 calls, tasks 2 to 4 are in system calls ---- */

static bool
next_task(void *context, struct prof_trace_task *task)
{
    static const struct prof_trace_task tasks[] = {
        {.id = 1},
        {.id = 2, .state = PROF_TASK_IN_SYSCALL},
        {.id = 3, .state = PROF_TASK_IN_SYSCALL},
        {.id = 4, .state = PROF_TASK_IN_SYSCALL}};
    uint32_t *given = context;

    if (*given == 4)
        return false;
    *task = tasks[(*given)++];
    return true;
}

static enum prof_status
start(void)
{
    uint32_t given = 0;
    const struct prof_trace_world world = {
        .thread = 7, .task = 1, .next = next_task, .context = &given};

    return prof_flight_start(flight, &world);
}

static enum prof_status
next(void)
{
    uint32_t given = 0;
    const struct prof_trace_world world = {
        .thread = 7, .task = 1, .next = next_task, .context = &given};

    return prof_flight_next(flight, &world, NULL, 0);
}

/* Emit a HeapAlloc; the heap size in it identifies the event. */
static void
emit(uint64_t bytes)
{
    prof_trace_emit(prof_flight_tracer(flight), 0, PROF_EV_HEAP_ALLOC, &bytes,
                    NULL, 0);
}

static struct prof_trace_stamp
stamp_now(void)
{
    const struct prof_trace_stamp stamp =
        prof_trace_stamp(prof_flight_enter(flight));

    prof_flight_leave(flight);
    return stamp;
}

/* ---- reading ---- */

/* Read a generation, which must be there, to its end. returns: its number */
static uint64_t
read_generation(void)
{
    struct prof_flight_part part;
    enum prof_status status;
    uint64_t number = 0;

    one.bytes_count = 0;
    while ((status = prof_flight_read(flight, &part)) == PROF_OK) {
        assert_true(number == 0 || number == part.generation);
        number = part.generation;
        assert_in_range(part.bytes_count, 1, FILE_MAX - one.bytes_count);
        memcpy(one.bytes + one.bytes_count, part.bytes, part.bytes_count);
        one.bytes_count += part.bytes_count;
    }
    assert_int_equal(status, PROF_ERR_END);
    assert_int_equal(part.generation, number);
    losses = part.losses;
    if (model_trace_read(&one.decoded, one.bytes, one.bytes_count) !=
        MODEL_TRACE_OK)
        fail_msg("not accepted: %s", one.decoded.reason.text);
    return number;
}

/* returns: how many events of this type there are; out: *last, the last */
static uint32_t
count(enum model_trace_type type, const struct model_trace_event **last)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < model_trace_count(&one.decoded); i++) {
        const struct model_trace_event *event = model_trace_at(&one.decoded, i);

        if (event->type != type)
            continue;
        found++;
        *last = event;
    }
    return found;
}

/* The next generation must be `number`, with the event of emit(bytes). */
static void
expect_generation(uint64_t number, uint64_t bytes)
{
    const struct model_trace_event *event = NULL;

    assert_int_equal(read_generation(), number);
    assert_int_equal(count(MODEL_TRACE_HEAP_ALLOC, &event), 1);
    assert_int_equal(event->arg, bytes);
}

static void
expect_nothing(void)
{
    struct prof_flight_part part;

    assert_int_equal(prof_flight_read(flight, &part), PROF_ERR_OFF);
}

/* ---- tests ---- */

FLIGHT_TEST(the_last_generations_are_kept_and_each_opens)
{
    expect_nothing();
    assert_int_equal(next(), PROF_ERR_OFF);
    assert_int_equal(start(), PROF_OK);
    assert_int_equal(start(), PROF_ERR_BUSY);
    expect_nothing(); /* the first one is being written */
    for (uint64_t i = 1; i <= 10; i++) {
        emit(i);
        assert_int_equal(next(), PROF_OK);
    }
    emit(11);
    expect_generation(8, 8);
    expect_generation(9, 9);
    expect_generation(10, 10);
    expect_nothing();
    assert_int_equal(prof_flight_stop(flight, 0, NULL, 0), PROF_OK);
    assert_int_equal(prof_flight_stop(flight, 0, NULL, 0), PROF_ERR_OFF);
    expect_generation(11, 11);
    expect_nothing();
    assert_int_equal(start(), PROF_OK);
    emit(12);
    assert_int_equal(next(), PROF_OK);
    expect_generation(12, 12);
}

/* Task 2 left its system call in an earlier generation. The file of this one
 * lacks that moment, so the return has the time of its report. */
FLIGHT_TEST(a_moment_of_an_earlier_generation_is_not_of_this_one)
{
    const struct model_trace_event *event = NULL;
    struct prof_trace_stamp left;
    int64_t left_ticks;

    assert_int_equal(start(), PROF_OK);
    for (uint64_t i = 0; i < 10; i++)
        emit(i); /* to raise its numbers */
    left = stamp_now();
    assert_int_equal(next(), PROF_OK);
    assert_int_equal(read_generation(), 1);
    prof_trace_sysexit(prof_flight_tracer(flight), 0, 2, left);
    assert_int_equal(next(), PROF_OK);
    assert_int_equal(read_generation(), 2);
    assert_int_equal(count(MODEL_TRACE_GO_SYS_EXIT, &event), 1);
    assert_true(event->ticks > model_trace_at(&one.decoded, 0)->ticks);
    assert_int_equal(one.decoded.duplicate_seqs, 0);
    /* A moment of this generation is kept. */
    left = stamp_now();
    emit(20);
    prof_trace_sysexit(prof_flight_tracer(flight), 0, 2, left);
    assert_int_equal(next(), PROF_OK);
    assert_int_equal(read_generation(), 3);
    assert_int_equal(count(MODEL_TRACE_GO_SYS_EXIT, &event), 1);
    left_ticks = event->ticks;
    assert_int_equal(count(MODEL_TRACE_HEAP_ALLOC, &event), 1);
    assert_true(left_ticks < event->ticks);
}

FLIGHT_TEST(a_full_generation_is_a_prefix_and_says_so)
{
    const struct model_trace_event *event = NULL;
    uint64_t emitted = 0;
    uint32_t found;

    assert_int_equal(start(), PROF_OK);
    assert_false(prof_flight_is_filling(flight));
    while (!prof_flight_is_filling(flight))
        emit(++emitted);
    assert_int_equal(next(), PROF_OK); /* in time: nothing is lost */
    assert_false(prof_flight_is_filling(flight));
    assert_int_equal(read_generation(), 1);
    assert_int_equal(count(MODEL_TRACE_HEAP_ALLOC, &event), emitted);
    for (emitted = 1; emitted <= 2000; emitted++)
        emit(emitted);
    assert_int_equal(next(), PROF_OK); /* too late */
    assert_int_equal(read_generation(), 2);
    found = count(MODEL_TRACE_HEAP_ALLOC, &event);
    assert_int_equal(event->arg, found); /* the first ones are kept */
    /* One more is lost: the event that deschedules the caller. */
    assert_int_equal(losses.no_buffer, 2000 - found + 1);
    emit(1);
    assert_int_equal(next(), PROF_OK);
    expect_generation(3, 1);
    assert_int_equal(losses.no_buffer, 0);
}

FLIGHT_TEST(a_wrong_configuration_is_refused)
{
    static const uint32_t generations[] = {PROF_FLIGHT_GENERATIONS_MIN - 1,
                                           PROF_FLIGHT_GENERATIONS_MAX + 1,
                                           PROF_FLIGHT_GENERATIONS_MAX};
    struct prof_flight_config wrong = config;
    struct prof_flight *made = NULL;
    const size_t bytes = prof_flight_bytes_needed(&config);

    assert_int_equal(prof_flight_init(&made, &config, block, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_flight_init(&made, &config, (char *)block + 8, bytes),
                     PROF_ERR_MEMORY);
    for (int i = 0; i < 4; i++) {
        wrong.generations_max = generations[i < 3 ? i : 2];
        wrong.trace.procs_max = i < 3; /* none: the last row */
        assert_int_equal(prof_flight_bytes_needed(&wrong) != 0, i == 2);
        if (i != 2)
            assert_int_equal(prof_flight_init(&made, &wrong, block, bytes),
                             PROF_ERR_CONFIG);
    }
    assert_null(made);
}
