/*
 * test_tracer_buffers.c -- sessions and generations of any load, with buffers
 * of any size, too few of them, and room for few stacks, beside a list of what
 * was emitted.
 */
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "prof/flight.h"
#include "prof/fork.h"
#include "tracer_case.h"
#include "unit_test.h"

static const struct prof_trace_task caller = {.id = 1};

/* ---- many sessions of one tracer ---- */

enum { EVENTS_MAX = 160, FRAMES_EACH = 6, POOL = 80 };

struct emitted {
    uint64_t arg;    /* of a HeapAlloc */
    uint32_t number; /* of its stack in the pool plus 1; 0: a HeapAlloc */
    bool is_known;   /* the stack had room */
};

/* What was done in a session. */
struct load {
    struct emitted events[EVENTS_MAX];
    uint32_t count;
    bool known[POOL]; /* stacks that this session has stored */
    uint32_t stacks;
    uint64_t frames;
    uint64_t refused; /* events whose stack found no room */
};

static struct prof_trace_config config; /* of the tracer */
static struct load *load;

static uint64_t drawn;

static uint32_t
draw(uint32_t limit)
{
    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(drawn >> 33) % limit;
}

static uint32_t
stack_of(uint32_t number, uintptr_t *stack)
{
    const uint32_t depth = 1 + number % FRAMES_EACH;

    for (uint32_t i = 0; i < depth; i++)
        stack[i] =
            (UINT64_C(128) << number % 50) + number + ((uint64_t)i << 60);
    return depth;
}

/* Note whether a stack is stored, as the table's limits say. */
static bool
is_stored(uint32_t number, uint32_t depth)
{
    if (load->known[number])
        return true;
    if (load->stacks == config.stacks_max ||
        load->frames + depth > config.frames_max) {
        load->refused++;
        return false;
    }
    load->known[number] = true;
    load->stacks++;
    load->frames += depth;
    return true;
}

static void
emit_any(void)
{
    struct emitted *const event = &load->events[load->count++];
    uintptr_t stack[FRAMES_EACH];

    *event = (struct emitted){.number = draw(3) == 0 ? 1 + draw(POOL) : 0};
    if (event->number == 0) {
        const uint32_t proc = draw(config.procs_max + 1);

        event->arg = (uint64_t)draw(1000) << draw(50);
        tracer_emit(proc < config.procs_max ? proc : PROF_TRACE_NO_PROC,
                    PROF_EV_HEAP_ALLOC, event->arg);
    } else {
        const uint32_t depth = stack_of(event->number - 1, stack);

        event->is_known = is_stored(event->number - 1, depth);
        prof_trace_emit(one.trace, 0, PROF_EV_GO_SYSCALL, NULL, stack, depth);
    }
}

/* The stack is the one that was given, whole, or none if there was no room. */
static void
check_stack(const struct emitted *want, const struct model_trace_event *got)
{
    uintptr_t stack[FRAMES_EACH];
    uint64_t frames[MODEL_TRACE_FRAMES_MAX];
    const uint32_t depth = stack_of(want->number - 1, stack);

    assert_int_equal(got->stack != 0, want->is_known);
    if (!want->is_known)
        return;
    assert_int_equal(model_trace_stack(&one.decoded, got->stack, frames),
                     depth);
    for (uint32_t i = 0; i < depth; i++)
        assert_int_equal(frames[i], stack[i]);
}

/* The file has the first events that were emitted, and the losses are all the
 * others. */
static void
check_session(struct prof_trace_drops drops)
{
    uint32_t found = 0;
    uint32_t ends = 0;

    for (uint32_t i = 0; i < model_trace_count(&one.decoded); i++) {
        const struct model_trace_event *got = model_trace_at(&one.decoded, i);
        const struct emitted *want = &load->events[found];

        ends += got->type == MODEL_TRACE_GO_SCHED;
        if (got->type != MODEL_TRACE_HEAP_ALLOC &&
            got->type != MODEL_TRACE_GO_SYS_CALL)
            continue;
        assert_true(found++ < load->count);
        assert_int_equal(got->type == MODEL_TRACE_GO_SYS_CALL,
                         want->number != 0);
        if (want->number != 0)
            check_stack(want, got);
        else
            assert_int_equal(got->arg, want->arg);
    }
    assert_int_equal(drops.no_buffer, load->count - found + 1 - ends);
    assert_int_equal(drops.no_stack, load->refused);
    assert_int_equal(one.decoded.stack_records, load->stacks);
}

static void
draw_config(void)
{
    config = (struct prof_trace_config){
        .procs_max = 1 + draw(4),
        .buffers_max = 7 + draw(20),
        .buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN + draw(60),
        .stacks_max = 1 + draw(40),
        .frames_max = 8 + draw(100),
    };
}

/* Let the clock begin below 2^63 or above it, or pass it soon. */
static void
set_clock(int world)
{
    static const uint64_t starts[] = {1000000, (UINT64_C(1) << 63) + 5,
                                      (UINT64_C(1) << 63) - 50000};

    one.ticks = starts[world % 3];
}

static void
trace_any_session(void)
{
    static struct load this_one;
    const uint32_t events = draw(EVENTS_MAX);
    const uint32_t late = draw(2 * EVENTS_MAX);

    load = &this_one;
    *load = (struct load){.count = 0};
    tracer_begin(&caller, 1);
    assert_int_equal(prof_trace_drops(one.trace).no_buffer, 0);
    assert_int_equal(prof_trace_drops(one.trace).no_stack, 0);
    for (uint32_t i = 0; i < events; i++) {
        emit_any();
        if (draw(20) == 0)
            assert_int_equal(tracer_read(), PROF_ERR_AGAIN);
        if (i == late) /* in clock order half of the numbers are used */
            one.ticks += UINT64_C(1) << (config.procs_max > 2 ? 59 : 60);
        if (draw(20) == 0)
            prof_trace_proc_free(one.trace, draw(config.procs_max));
    }
    tracer_end();
    check_session(prof_trace_drops(one.trace));
}

/* Whatever the sessions before it did, a session has its own events, stacks and
 * losses: all events, or the first ones, and those that are lost are counted.
 */
TRACER_TEST(each_session_is_its_own)
{
    drawn = 1;
    for (int world = 0; world < 40; world++) {
        draw_config();
        tracer_open(&config);
        set_clock(world);
        for (int session = 0; session < 10; session++)
            trace_any_session();
    }
}

/* ---- many generations of one recorder ---- */

enum { LOADS = 16 }; /* more than there are generations */

/* A recorder, and what is known of its generations. */
static struct {
    struct prof_flight *flight;
    struct load loads[LOADS]; /* by the generation's number */
    uint64_t begun;
    uint64_t reading; /* the number of the generation being read */
    bool is_on;
} recorder;

static bool
no_other_task(void *context, struct prof_trace_task *task)
{
    bool *const given = context;

    *task = caller;
    *given = !*given;
    return *given;
}

/* Begin a generation, if the recorder is in a state to do so. */
static void
begin_generation(bool next)
{
    bool given = false;
    const struct prof_trace_world world = {
        .task = caller.id, .next = no_other_task, .context = &given};
    const enum prof_status status =
        next ? prof_flight_next(recorder.flight, &world, NULL, 0)
             : prof_flight_start(recorder.flight, &world);

    assert_int_equal(status, next == recorder.is_on ? PROF_OK
                             : next                 ? PROF_ERR_OFF
                                                    : PROF_ERR_BUSY);
    if (status != PROF_OK)
        return;
    recorder.is_on = true;
    load = &recorder.loads[++recorder.begun % LOADS];
    *load = (struct load){.count = 0};
    one.trace = prof_flight_tracer(recorder.flight);
}

/* Read a part of a generation that has ended; check the whole after the last.
 */
static void
read_part(void)
{
    struct load *const now = load;
    struct prof_flight_part part;
    const enum prof_status status = prof_flight_read(recorder.flight, &part);

    if (status == PROF_ERR_OFF)
        return;
    if (one.bytes_count == 0) {
        assert_true(part.generation > recorder.reading);
        recorder.reading = part.generation;
    }
    assert_int_equal(part.generation, recorder.reading);
    if (status == PROF_OK) {
        memcpy(&one.bytes[one.bytes_count], part.bytes, part.bytes_count);
        one.bytes_count += part.bytes_count;
        return;
    }
    assert_int_equal(status, PROF_ERR_END);
    assert_int_equal(model_trace_read(&one.decoded, one.bytes, one.bytes_count),
                     MODEL_TRACE_OK);
    load = &recorder.loads[recorder.reading % LOADS];
    check_session(part.losses);
    load = now;
    one.bytes_count = 0;
}

static void
stop_or_fork(bool forks)
{
    if (forks) {
        prof_flight_after_fork_child(recorder.flight);
        one.bytes_count = 0;
        recorder.reading = recorder.begun;
    } else {
        assert_int_equal(prof_flight_stop(recorder.flight, 0, NULL, 0),
                         recorder.is_on ? PROF_OK : PROF_ERR_OFF);
    }
    recorder.is_on = false;
}

static void
record_any_generations(void)
{
    memset(&recorder.loads, 0, sizeof recorder.loads);
    recorder.begun = recorder.reading = 0;
    recorder.is_on = false;
    for (int step = 0; step < 400; step++) {
        const uint32_t call = draw(20);

        if (call < 4)
            begin_generation(call > 0);
        else if (call < 5)
            stop_or_fork(draw(10) == 0);
        else if (call < 10)
            read_part();
        else if (recorder.is_on)
            for (uint32_t i = draw(30); i > 0 && load->count < EVENTS_MAX; i--)
                emit_any();
        if (call == 19 && draw(10) == 0) /* half of the numbers are used */
            one.ticks += UINT64_C(1) << (config.procs_max > 2 ? 59 : 60);
    }
}

/* The same for generations that are read late, in part, or never. */
TRACER_TEST(each_generation_is_its_own)
{
    drawn = 2;
    for (int world = 0; world < 30; world++) {
        struct prof_flight_config whole;
        void *block;
        size_t bytes;
        struct prof_trace *own;

        draw_config();
        tracer_open(&config);
        set_clock(world);
        own = one.trace;
        whole = (struct prof_flight_config){
            .trace = config,
            .generations_max = PROF_FLIGHT_GENERATIONS_MIN + draw(3)};
        whole.trace.order = tracer_order;
        whole.trace.clock = one.clock;
        bytes = prof_flight_bytes_needed(&whole);
        block = props_block(bytes, 0);
        assert_int_equal(
            prof_flight_init(&recorder.flight, &whole, block, bytes), PROF_OK);
        record_any_generations();
        one.trace = own;
        free(block);
    }
}
