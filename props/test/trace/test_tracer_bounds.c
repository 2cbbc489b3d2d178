/*
 * test_tracer_bounds.c -- the defaults of a tracer, the arguments it refuses,
 * and where its buffers are while no thread writes. White box.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "aligned_block.h"
#include "prof/flight.h"
#include "trace_buffer.h"
#include "tracer.h"
#include "unit_test.h"

static const struct prof_trace_config small = {.procs_max = 2,
                                               .buffers_max = 5,
                                               .buffer_bytes = 512,
                                               .stacks_max = 8,
                                               .frames_max = 64};

static struct prof_trace *
a_tracer(const struct prof_trace_config *config)
{
    const size_t bytes = prof_trace_bytes_needed(config);
    void *block = props_block(bytes, 0);
    struct prof_trace *trace;

    assert_int_equal(prof_trace_init(&trace, config, block, bytes), PROF_OK);
    return trace;
}

static size_t
count_empty(const struct prof_trace *trace)
{
    size_t count = 0;

    for (const struct trace_buffer *at = trace->empty; at != NULL;
         at = at->next)
        count++;
    return count;
}

/* The documented defaults: 16384 stacks, 32 frames a stack, 64 clock ticks to a
 * tick of the file. */
TEST(what_is_not_told_is_as_documented)
{
    const struct prof_trace_config nothing = {.procs_max = 2, .buffers_max = 4};
    struct prof_trace_config told = nothing;
    struct prof_trace *trace = a_tracer(&nothing);

    told.stacks_max = 16384;
    told.frames_max = UINT64_C(16384) * 32;
    told.buffer_bytes = PROF_TRACE_BUFFER_BYTES;
    assert_int_equal(prof_trace_bytes_needed(&nothing),
                     prof_trace_bytes_needed(&told));
    assert_int_equal(trace->stacks.rows_max, 16384);
    assert_int_equal(trace->stacks.frames_max, 16384 * 32);
    assert_int_equal(trace->empty->limit_bytes, PROF_TRACE_BUFFER_BYTES);
    assert_int_equal(trace->tick_divisor, 64);
    assert_int_equal(trace->tick_shift, 6);
    assert_int_equal(count_empty(trace), 4);
    free(trace);
    trace = a_tracer(&small);
    assert_int_equal(trace->stacks.frames_max, 64);
    assert_int_equal(trace->empty->limit_bytes, 512);
    free(trace);
}

TEST(stacks_that_no_table_holds_are_refused)
{
    struct prof_trace_config config = small;
    static _Alignas(64) unsigned char block[64];
    struct prof_trace *trace;

    config.stacks_max = UINT32_MAX;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
    assert_int_equal(prof_trace_init(&trace, &config, block, sizeof block),
                     PROF_ERR_CONFIG);
    config = small;
    config.frames_max = UINT64_MAX;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
}

/*
 * In the order of the clock, some bits of a sequence number are its lane: one
 * lane for each processor, one for events outside all processors, and one for
 * moments, which are not events: 4 lanes with 2 processors, 5 with 3.
 */
TEST(places_have_as_many_bits_as_they_need)
{
    static const struct {
        uint32_t procs;
        uint32_t bits;
    } rows[] = {{1, 2}, {2, 2}, {3, 3}, {6, 3}, {7, 4}, {14, 4}, {15, 5}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct prof_trace_config config = small;
        struct prof_trace *trace;

        config.procs_max = rows[i].procs;
        config.buffers_max = rows[i].procs + 2;
        config.order = PROF_TRACE_ORDER_CLOCK;
        trace = a_tracer(&config);
        assert_int_equal(trace->lane_bits, rows[i].bits);
        assert_int_equal(trace->order, PROF_TRACE_ORDER_CLOCK);
        free(trace);
    }
}

/* A divisor that is a power of two becomes a shift; by any other the clock is
 * divided. */
TEST(ticks_of_the_file_are_those_of_the_clock_by_the_divisor)
{
    static const uint32_t divisors[] = {1, 2, 3, 5, 6, 64, 96, 1U << 31};
    static const uint64_t clocks[] = {0, 1, 63, 64, 65, 1000000007, UINT32_MAX};

    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        struct prof_trace_config config = small;
        struct prof_trace *trace;

        config.tick_divisor = divisors[i];
        trace = a_tracer(&config);
        for (size_t j = 0; j < sizeof clocks / sizeof *clocks; j++)
            assert_int_equal(trace_file_ticks(trace, clocks[j]),
                             clocks[j] / divisors[i] + 1);
        free(trace);
    }
}

/* A buffer that nothing was written to becomes empty again without waking the
 * reader. */
TEST(an_empty_buffer_goes_back_to_the_others)
{
    struct prof_trace *trace = a_tracer(&small);
    struct trace_buffer *taken[5];
    struct trace_buffer *none = NULL;

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 5; i++) {
            taken[i] = prof_trace_take_empty(trace);
            assert_non_null(taken[i]);
            assert_int_equal(taken[i]->used_bytes, 0);
            assert_int_equal(taken[i]->limit_bytes, 512);
        }
        assert_null(prof_trace_take_empty(trace));
        for (size_t i = 0; i < 5; i++) {
            prof_trace_give_up(trace, &taken[i]);
            assert_null(taken[i]);
        }
        prof_trace_give_up(trace, &none);
        assert_null(trace->full.head);
        assert_int_equal(load_relaxed(&trace->reader_wakeups), 0);
    }
    free(trace);
}

static const uint32_t *slept_on; /* as seen by a stub */
static uint32_t slept_seeing;
static uint32_t woken_seeing; /* reader_wakeups at the last waking */

void __wrap_prof_port_wake(const uint32_t *word);

void
__wrap_prof_port_wake(const uint32_t *word)
{
    woken_seeing = *word;
}

/* A buffer with at least a byte is queued, reader_wakeups counts it, and a
 * sleeper is woken, in this order. */
TEST(a_buffer_with_bytes_is_queued_and_told)
{
    struct prof_trace *trace = a_tracer(&small);
    struct trace_buffer *first = prof_trace_take_empty(trace);
    struct trace_buffer *second = prof_trace_take_empty(trace);
    struct trace_buffer *const want[] = {first, second};

    trace_put_byte(first, 1);
    trace_put_byte(second, 2);
    second->next = second; /* any value */
    prof_trace_give_up(trace, &first);
    assert_int_equal(load_relaxed(&trace->reader_wakeups), 1);
    assert_int_equal(woken_seeing, 1);
    prof_trace_give_up(trace, &second);
    assert_int_equal(load_relaxed(&trace->reader_wakeups), 2);
    assert_int_equal(woken_seeing, 2);
    for (size_t i = 0; i < 2; i++)
        assert_ptr_equal(trace_queue_pop(&trace->full), want[i]);
    assert_null(trace_queue_pop(&trace->full));
    assert_null(trace->full.tail);
    free(trace);
}

void __wrap_prof_port_wait(const uint32_t *word, uint32_t seen);

void
__wrap_prof_port_wait(const uint32_t *word, uint32_t seen)
{
    assert_null(slept_on);
    slept_on = word;
    slept_seeing = seen;
}

static bool
sleeps(struct prof_trace *trace)
{
    slept_on = NULL;
    assert_int_equal(prof_trace_wait(trace), PROF_OK);
    if (slept_on != NULL) {
        assert_ptr_equal(slept_on, &trace->reader_wakeups);
        assert_int_equal(slept_seeing, load_relaxed(&trace->reader_wakeups));
    }
    return slept_on != NULL;
}

/* The reader sleeps only if there is a session, its header was read, and no
 * buffer is full, and never if another reader is active. */
TEST(a_reader_sleeps_only_if_there_is_nothing_to_read)
{
    struct prof_trace *trace = a_tracer(&small);
    struct trace_buffer *buffer = prof_trace_take_empty(trace);

    store_relaxed(&trace->reader_wakeups, 41);
    assert_false(sleeps(trace)); /* no session */
    trace->stage = STAGE_ON;
    trace->part = PART_HEADER;
    assert_false(sleeps(trace));
    trace->part = PART_EVENTS;
    assert_true(sleeps(trace));
    trace->stage = STAGE_DRAINING;
    assert_false(sleeps(trace));
    trace->stage = STAGE_ON;
    assert_true(prof_port_lock_try(&trace->reader_lock));
    assert_int_equal(prof_trace_wait(trace), PROF_ERR_BUSY);
    prof_port_lock_release(&trace->reader_lock);
    trace_put_byte(buffer, 1);
    prof_trace_give_up(trace, &buffer);
    assert_false(sleeps(trace));
    free(trace);
}

/* ---- Sessions ---- */

static uint64_t
next_number(void *context)
{
    uint64_t *number = context;

    return ++*number;
}

static bool
no_task(void *context, struct prof_trace_task *task)
{
    (void)context;
    (void)task;
    return false;
}

static void
start(struct prof_trace *trace)
{
    assert_int_equal(
        prof_trace_start(trace, &(struct prof_trace_world){.next = no_task}),
        PROF_OK);
}

/* Read the trace to its end. returns: the first byte after the events */
static uint8_t
read_all(struct prof_trace *trace)
{
    const uint8_t *bytes;
    size_t count;
    enum prof_status status;
    uint8_t first = 0;

    while ((status = prof_trace_read(trace, &bytes, &count)) == PROF_OK)
        if (trace->part > PART_EVENTS && first == 0)
            first = bytes[0];
    assert_int_equal(status, PROF_ERR_END);
    return first;
}

/* The buffers are given back even if there are too few for the events, and in
 * whatever order they are read. */
TEST(a_session_that_was_read_has_given_back_all_buffers)
{
    uint64_t number = 0;
    struct prof_trace_config config = small;

    config.clock = (struct prof_trace_clock){next_number, next_number, &number};
    for (uint32_t order = 0; order < 2; order++) {
        struct prof_trace *trace;

        config.order = (enum prof_trace_order)order;
        trace = a_tracer(&config);
        for (uint32_t events = 0; events < 3000; events += 271) {
            start(trace);
            for (uint64_t i = 0; i < events; i++)
                prof_trace_emit(trace, i % 7 == 0 ? 1 : 0, PROF_EV_HEAP_ALLOC,
                                &i, NULL, 0);
            assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
            (void)read_all(trace);
            assert_int_equal(count_empty(trace), 5);
        }
        assert_true(prof_trace_drops(trace).no_buffer > 0);
        free(trace);
    }
}

static void
emit_full(struct prof_trace *trace)
{
    const uint64_t number = 0;

    prof_trace_emit(trace, 0, PROF_EV_HEAP_ALLOC, &number, NULL, 0);
    prof_trace_proc_free(trace, 0);
}

TEST(a_tracer_fills_when_less_than_half_of_its_buffers_are_empty)
{
    struct prof_trace_config config = small;

    for (config.procs_max = 1; config.procs_max <= 8; config.procs_max++) {
        struct prof_trace *trace;

        config.buffers_max = 10 + config.procs_max % 2;
        trace = a_tracer(&config);
        start(trace);
        while (count_empty(trace) > 0) {
            assert_int_equal(prof_trace_is_filling(trace),
                             2 * count_empty(trace) < config.buffers_max);
            emit_full(trace);
        }
        assert_true(prof_trace_is_filling(trace));
        free(trace);
    }
}

/* Five buffers of 2^30 bytes each, of which only the heads are written. */
TEST(buffers_of_more_than_4_gb_do_not_overlap)
{
    const struct prof_trace_config config = {.procs_max = 1,
                                             .buffers_max = 5,
                                             .buffer_bytes = 1 << 30,
                                             .stacks_max = 1,
                                             .frames_max = 1};
    const size_t bytes = prof_trace_bytes_needed(&config);
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct prof_trace *trace;

    assert_true(bytes > UINT32_MAX);
    assert_true(block != MAP_FAILED);
    assert_int_equal(prof_trace_init(&trace, &config, block, bytes), PROF_OK);
    assert_int_equal(count_empty(trace), 5);
    for (const struct trace_buffer *at = trace->empty; at->next != NULL;
         at = at->next) /* they lie in this order */
        assert_true((const unsigned char *)at->next >=
                    at->bytes + at->limit_bytes);
    munmap(block, bytes);
}

TEST(a_configuration_out_of_range_is_refused)
{
    static const struct {
        const char *why;
        struct prof_trace_config config;
    } rows[] = {
        {"no processor", {.buffers_max = 2}},
        {"a buffer too few", {.procs_max = 4, .buffers_max = 5}},
        {"an order that there is not",
         {.procs_max = 1, .buffers_max = 3, .order = 2}},
        {"too many processors", {.procs_max = 65537, .buffers_max = 1 << 20}},
        {"too many buffers", {.procs_max = 1, .buffers_max = (1 << 24) + 1}},
        {"a buffer too small",
         {.procs_max = 1,
          .buffers_max = 3,
          .buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN - 1}},
        {"a buffer too large",
         {.procs_max = 1, .buffers_max = 3, .buffer_bytes = (1U << 30) + 1}},
    };
    struct prof_trace *trace = NULL;
    const size_t bytes = prof_trace_bytes_needed(&small);
    unsigned char *const block = props_block(bytes + 8, 0);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (prof_trace_bytes_needed(&rows[i].config) != 0 ||
            prof_trace_init(&trace, &rows[i].config, block, bytes) !=
                PROF_ERR_CONFIG)
            fail_msg("%s is not refused", rows[i].why);
    }
    assert_int_equal(prof_trace_init(&trace, &small, block, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_trace_init(&trace, &small, block + 8, bytes),
                     PROF_ERR_MEMORY);
    assert_null(trace);
    free(block);
}

/* A flight recorder is as large as its tracers together, and some more. */
TEST(a_recorder_of_more_than_4_gb_has_room_for_its_tracers)
{
    for (uint32_t log2 = 10; log2 <= 30; log2++) {
        struct prof_flight_config config = {
            .trace = {
                .procs_max = 1, .buffers_max = 5, .buffer_bytes = 1U << log2}};
        const size_t tracer = prof_trace_bytes_needed(&config.trace);

        for (config.generations_max = PROF_FLIGHT_GENERATIONS_MIN;
             config.generations_max <= PROF_FLIGHT_GENERATIONS_MAX;
             config.generations_max++)
            assert_in_range(prof_flight_bytes_needed(&config) -
                                config.generations_max * tracer,
                            1, 1 << 16);
    }
}

/* That there is no task of timers is handed on, too, to tracers that had one.
 */
TEST(a_task_of_timers_that_has_gone_comes_back_in_no_generation)
{
    const struct prof_trace_world world = {.next = no_task};
    const struct prof_flight_config config = {
        .trace = small, .generations_max = PROF_FLIGHT_GENERATIONS_MIN};
    const size_t bytes = prof_flight_bytes_needed(&config);
    void *block = props_block(bytes, 0);
    struct prof_flight *flight;

    assert_int_equal(prof_flight_init(&flight, &config, block, bytes), PROF_OK);
    assert_int_equal(prof_flight_start(flight, &world), PROF_OK);
    for (int gone = 0; gone < 2; gone++) {
        const uint64_t task = gone ? 0 : 7;

        prof_trace_timer_task(prof_flight_tracer(flight), task);
        for (uint32_t i = 0; i < 2 * PROF_FLIGHT_GENERATIONS_MIN; i++) {
            assert_int_equal(prof_flight_next(flight, &world, NULL, 0),
                             PROF_OK);
            assert_int_equal(prof_flight_tracer(flight)->timer_task, task);
        }
    }
    free(block);
}

/* A row of the table whose thread lost the race for its stack has no stack
 * (table.c, I3). */
TEST(a_stack_that_is_not_linked_is_not_written)
{
    static const uintptr_t stack[] = {0x1000};
    struct prof_trace *trace = a_tracer(&small);

    for (int lost = 0; lost < 2; lost++) {
        start(trace);
        prof_trace_emit(trace, 0, PROF_EV_GO_SYSCALL, NULL, stack, 1);
        assert_int_equal(prof_table_rows(&trace->stacks), 1);
        if (lost)
            store_relaxed(&trace->stacks.entries[1].frames_at, 0);
        assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
        assert_int_equal(read_all(trace) & 0x3f,
                         lost ? EV_FREQUENCY : EV_STACK);
    }
    free(trace);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
