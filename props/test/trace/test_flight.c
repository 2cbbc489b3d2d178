/*
 * test_flight.c -- the flight recorder, in both orders of events: which
 * generations it keeps; each must be a complete trace file.
 */
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "prof/flight.h"
#include "prof/fork.h"
#include "prof/prof.h"
#include "trace_map.h"
#include "trace_reader.h"
#include "tracer_case.h"
#include "unit_test.h"

enum {
    KEPT = 4, /* generations; one is being written, three can be read */
    FILE_MAX = 1 << 16
};

static const struct prof_trace_config tracer = {
    .procs_max = 2,
    .buffers_max = 8,
    .buffer_bytes = 256,
    .stacks_max = 16,
};

static struct prof_flight *flight;
static void *block;
static uint64_t clock_ticks;
static uint64_t clock_step; /* added after each reading */
static uint8_t file[FILE_MAX];
static size_t file_bytes;
static struct model_trace decoded;
static struct prof_trace_drops losses; /* of the last generation read */

static uint64_t
read_ticks(void *context)
{
    (void)context;
    return clock_ticks += clock_step;
}

static uint64_t
read_ns(void *context)
{
    (void)context;
    return clock_ticks;
}

static int
set_up(void **state)
{
    struct prof_flight_config config = {.trace = tracer,
                                        .generations_max = KEPT};
    size_t bytes;

    (void)state;
    clock_ticks = 1000000;
    clock_step = 64;
    config.trace.order = tracer_order;
    config.trace.clock = (struct prof_trace_clock){read_ticks, read_ns, NULL};
    bytes = prof_flight_bytes_needed(&config);
    assert_int_not_equal(bytes, 0);
    block = props_block(bytes, 0);
    assert_int_equal(prof_flight_init(&flight, &config, block, bytes), PROF_OK);
    model_trace_init(&decoded);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    model_trace_release(&decoded);
    free(block);
    return 0;
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

    return prof_flight_start(
        flight,
        &(struct prof_trace_world){
            .thread = 7, .task = 1, .next = next_task, .context = &given});
}

static enum prof_status
next(void)
{
    uint32_t given = 0;

    return prof_flight_next(
        flight,
        &(struct prof_trace_world){
            .thread = 7, .task = 1, .next = next_task, .context = &given},
        NULL, 0);
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

    file_bytes = 0;
    while ((status = prof_flight_read(flight, &part)) == PROF_OK) {
        assert_true(number == 0 || number == part.generation);
        number = part.generation;
        assert_true(part.bytes_count > 0);
        assert_true(part.bytes_count <= FILE_MAX - file_bytes);
        memcpy(file + file_bytes, part.bytes, part.bytes_count);
        file_bytes += part.bytes_count;
    }
    assert_int_equal(status, PROF_ERR_END);
    assert_int_equal(part.generation, number);
    losses = part.losses;
    if (model_trace_read(&decoded, file, file_bytes) != MODEL_TRACE_OK)
        fail_msg("not accepted: %s", decoded.reason.text);
    return number;
}

/* returns: how many events of this type there are; out: *last, the last */
static uint32_t
count(enum model_trace_type type, const struct model_trace_event **last)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < model_trace_count(&decoded); i++) {
        const struct model_trace_event *event = model_trace_at(&decoded, i);

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

TEST_WITH(set_up, tear_down, the_last_generations_are_kept_and_each_opens)
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
TEST_WITH(set_up, tear_down,
          a_moment_of_an_earlier_generation_is_not_of_this_one)
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
    assert_true(event->ticks > model_trace_at(&decoded, 0)->ticks);
    assert_int_equal(decoded.duplicate_seqs, 0);
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

/* The task that begins the next generation is descheduled on its processor. */
TEST_WITH(set_up, tear_down, the_caller_is_descheduled_on_its_processor)
{
    const uintptr_t stack[] = {0x401005, 0x402005};
    const struct model_trace_event *event = NULL;
    const uint64_t task = 1;
    uint64_t pcs[MODEL_TRACE_FRAMES_MAX];
    uint64_t thread = 9;
    uint32_t given = 0;

    assert_int_equal(start(), PROF_OK);
    prof_trace_emit(prof_flight_tracer(flight), 0, PROF_EV_GO_SCHED, NULL, NULL,
                    0);
    prof_trace_emit(prof_flight_tracer(flight), 1, PROF_EV_PROC_START, &thread,
                    NULL, 0);
    prof_trace_emit(prof_flight_tracer(flight), 1, PROF_EV_GO_START, &task,
                    NULL, 0);
    assert_int_equal(
        prof_flight_next(flight,
                         &(struct prof_trace_world){.proc = 1,
                                                    .thread = 9,
                                                    .task = 1,
                                                    .next = next_task,
                                                    .context = &given},
                         stack, 2),
        PROF_OK);
    assert_int_equal(read_generation(), 1);
    assert_int_equal(count(MODEL_TRACE_GO_SCHED, &event), 2);
    assert_int_equal(model_trace_proc_id(&decoded, event->proc), 1);
    assert_int_equal(model_trace_stack(&decoded, event->stack, pcs), 2);
    assert_int_equal(pcs[0], 0x401005);
}

TEST_WITH(set_up, tear_down, a_full_generation_is_a_prefix_and_says_so)
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

TEST_WITH(set_up, tear_down, a_child_begins_anew)
{
    struct prof_flight_part part;

    assert_int_equal(start(), PROF_OK);
    emit(1);
    assert_int_equal(next(), PROF_OK);
    assert_int_equal(prof_flight_read(flight, &part), PROF_OK);
    (void)prof_flight_enter(flight); /* a thread that is missing in the child */
    prof_flight_after_fork_child(flight);
    expect_nothing();
    assert_int_equal(next(), PROF_ERR_OFF);
    assert_int_equal(start(), PROF_OK);
    emit(2);
    assert_int_equal(next(), PROF_OK);
    assert_int_equal(read_generation() > 1, 1);
    assert_int_equal(count(MODEL_TRACE_HEAP_ALLOC,
                           &(const struct model_trace_event *){NULL}),
                     1);
}

TEST_WITH(set_up, tear_down, a_wrong_configuration_is_refused)
{
    struct prof_flight_config config = {.trace = tracer,
                                        .generations_max = KEPT};
    struct prof_flight *made = NULL;
    const size_t bytes = prof_flight_bytes_needed(&config);

    assert_int_equal(prof_flight_init(&made, &config, block, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_flight_init(&made, &config, (char *)block + 8, bytes),
                     PROF_ERR_MEMORY);
    config.generations_max = PROF_FLIGHT_GENERATIONS_MIN - 1;
    assert_int_equal(prof_flight_bytes_needed(&config), 0);
    assert_int_equal(prof_flight_init(&made, &config, block, bytes),
                     PROF_ERR_CONFIG);
    config.generations_max = PROF_FLIGHT_GENERATIONS_MAX + 1;
    assert_int_equal(prof_flight_bytes_needed(&config), 0);
    config.generations_max = PROF_FLIGHT_GENERATIONS_MAX;
    assert_int_not_equal(prof_flight_bytes_needed(&config), 0);
    config.trace.procs_max = 0;
    assert_int_equal(prof_flight_bytes_needed(&config), 0);
    assert_null(made);
}
