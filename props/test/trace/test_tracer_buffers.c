/*
 * test_tracer_buffers.c -- the tracer's buffers: any size, too few of them,
 * room for stacks, impossible configurations, and many sessions of any load.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "tracer_fixture.h"
#include "unit_test.h"

static const struct prof_trace_task caller = {.id = 1};

static struct tracer_fixture fixture;

/* Emit many kinds of events, several of each, on two processors. */
static void
emit_all(void)
{
    static const uint64_t numbers[] = {0, 127, 128, 1 << 20, UINT64_MAX};

    tracer_fixture_begin(&fixture, &caller, 1);
    tracer_fixture_emit(&fixture, 1, PROF_EV_PROC_START, 8);
    for (uint32_t i = 0; i < 40; i++) {
        const uintptr_t stack[] = {0x1000 + i % 7, UINTPTR_MAX - i, 0};
        const uint64_t create[] = {100 + i, UINT64_MAX - i};

        fixture.tick_step = numbers[i % 4];
        tracer_fixture_emit(&fixture, i % 2, PROF_EV_HEAP_ALLOC,
                            numbers[i % 5]);
        prof_trace_emit(fixture.trace, 0, PROF_EV_GO_CREATE, create, stack,
                        i % 4);
        prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL, stack, 3);
        tracer_fixture_emit(&fixture, 1, PROF_EV_GC_SCAN_START, 0);
        tracer_fixture_emit(&fixture, 1, PROF_EV_GC_SCAN_DONE, 0);
    }
    tracer_fixture_end(&fixture);
}

static void
a_buffer_of_any_size_shows_the_same_events(void **state)
{
    struct prof_trace_config config = tracer_fixture_small;
    struct model_trace_event *want;
    uint32_t count;

    (void)state;
    config.buffers_max = 4096;
    config.buffer_bytes = PROF_TRACE_BUFFER_BYTES;
    tracer_fixture_close(&fixture);
    tracer_fixture_open(&fixture, &config);
    emit_all();
    count = model_trace_count(&fixture.decoded);
    want = calloc(count, sizeof *want);
    assert_non_null(want);
    for (uint32_t i = 0; i < count; i++)
        want[i] = *model_trace_at(&fixture.decoded, i);
    for (config.buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN;
         config.buffer_bytes <= 600; config.buffer_bytes++) {
        tracer_fixture_close(&fixture);
        tracer_fixture_open(&fixture, &config);
        emit_all();
        assert_int_equal(model_trace_count(&fixture.decoded), count);
        for (uint32_t i = 0; i < count; i++) {
            const struct model_trace_event *got =
                model_trace_at(&fixture.decoded, i);

            assert_int_equal(got->type, want[i].type);
            assert_int_equal(got->seq, want[i].seq);
            assert_int_equal(got->ticks, want[i].ticks);
            assert_int_equal(got->g, want[i].g);
            assert_int_equal(got->arg, want[i].arg);
            assert_int_equal(got->pc, want[i].pc);
            assert_int_equal(got->stack, want[i].stack);
        }
    }
    free(want);
}

static void
a_configuration_out_of_range_is_refused(void **state)
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
    const size_t bytes = prof_trace_bytes_needed(&tracer_fixture_small);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (prof_trace_bytes_needed(&rows[i].config) != 0 ||
            prof_trace_init(&trace, &rows[i].config, fixture.block, bytes) !=
                PROF_ERR_CONFIG)
            fail_msg("%s is not refused", rows[i].why);
    }
    assert_int_equal(prof_trace_init(&trace, &tracer_fixture_small,
                                     fixture.block, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_trace_init(&trace, &tracer_fixture_small,
                                     (char *)fixture.block + 8, bytes),
                     PROF_ERR_MEMORY);
    assert_null(trace);
}

static void
events_without_a_buffer_are_counted_and_what_is_read_has_no_gap(void **state)
{
    const uint32_t emitted = 100000;
    uint32_t heap = 0;

    (void)state;
    tracer_fixture_begin(&fixture, &caller, 1);
    for (uint32_t i = 0; i < emitted; i++) {
        tracer_fixture_emit(&fixture, i % 4, PROF_EV_HEAP_ALLOC, i);
        if (i == emitted - 100) /* there is room again, too late */
            assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_AGAIN);
    }
    tracer_fixture_end(&fixture);
    for (uint32_t i = 0; i < model_trace_count(&fixture.decoded); i++) {
        const struct model_trace_event *event =
            model_trace_at(&fixture.decoded, i);

        if (event->type == MODEL_TRACE_HEAP_ALLOC)
            assert_int_equal(event->arg, heap++);
    }
    assert_in_range(heap, 1, emitted - 1000);
    /* All other events are lost, and the one that stop emits. */
    assert_int_equal(prof_trace_drops(fixture.trace).no_buffer,
                     emitted - heap + 1);
}

/* Each session has room for as many stacks as the tables hold, however many
 * sessions came before. */
static void
a_later_session_has_room_for_as_many_stacks(void **state)
{
    struct prof_trace_config config = tracer_fixture_small;

    (void)state;
    config.frames_max = 128;
    tracer_fixture_close(&fixture);
    tracer_fixture_open(&fixture, &config);
    for (int session = 0; session < 3; session++) {
        tracer_fixture_begin(&fixture, &caller, 1);
        for (uintptr_t i = 1; i <= 64; i++)
            prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL,
                            (uintptr_t[]){i, i}, 2);
        assert_int_equal(prof_trace_drops(fixture.trace).no_stack, 0);
        tracer_fixture_end(&fixture);
        assert_int_equal(fixture.decoded.stack_records, 64);
    }
}

/* ---- many sessions of one tracer ---- */

enum { EVENTS_MAX = 160, FRAMES_EACH = 6, POOL = 80 };

struct emitted {
    uint64_t arg;    /* of a HeapAlloc */
    uint32_t number; /* of its stack in the pool plus 1; 0: a HeapAlloc */
    bool is_known;   /* the stack had room */
};

/* A tracer, and what was done in its session. */
static struct load {
    struct prof_trace_config config;
    struct emitted events[EVENTS_MAX];
    uint32_t count;
    bool known[POOL]; /* stacks that this session has stored */
    uint32_t stacks;
    uint64_t frames;
    uint64_t refused; /* events whose stack found no room */
} load;

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
    if (load.known[number])
        return true;
    if (load.stacks == load.config.stacks_max ||
        load.frames + depth > load.config.frames_max) {
        load.refused++;
        return false;
    }
    load.known[number] = true;
    load.stacks++;
    load.frames += depth;
    return true;
}

static void
emit_any(void)
{
    struct emitted *const event = &load.events[load.count++];
    uintptr_t stack[FRAMES_EACH];

    *event = (struct emitted){.number = draw(3) == 0 ? 1 + draw(POOL) : 0};
    if (event->number == 0) {
        const uint32_t proc = draw(load.config.procs_max + 1);

        event->arg = (uint64_t)draw(1000) << draw(50);
        tracer_fixture_emit(
            &fixture, proc < load.config.procs_max ? proc : PROF_TRACE_NO_PROC,
            PROF_EV_HEAP_ALLOC, event->arg);
    } else {
        const uint32_t depth = stack_of(event->number - 1, stack);

        event->is_known = is_stored(event->number - 1, depth);
        prof_trace_emit(fixture.trace, 0, PROF_EV_GO_SYSCALL, NULL, stack,
                        depth);
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
    assert_int_equal(model_trace_stack(&fixture.decoded, got->stack, frames),
                     depth);
    for (uint32_t i = 0; i < depth; i++)
        assert_int_equal(frames[i], stack[i]);
}

/* The file has the first events that were emitted, and the losses are all the
 * others. */
static void
check_session(void)
{
    const struct prof_trace_drops drops = prof_trace_drops(fixture.trace);
    uint32_t found = 0;
    uint32_t ends = 0;

    for (uint32_t i = 0; i < model_trace_count(&fixture.decoded); i++) {
        const struct model_trace_event *got =
            model_trace_at(&fixture.decoded, i);
        const struct emitted *want = &load.events[found];

        ends += got->type == MODEL_TRACE_GO_SCHED;
        if (got->type != MODEL_TRACE_HEAP_ALLOC &&
            got->type != MODEL_TRACE_GO_SYS_CALL)
            continue;
        assert_true(found++ < load.count);
        assert_int_equal(got->type == MODEL_TRACE_GO_SYS_CALL,
                         want->number != 0);
        if (want->number != 0)
            check_stack(want, got);
        else
            assert_int_equal(got->arg, want->arg);
    }
    assert_int_equal(drops.no_buffer, load.count - found + 1 - ends);
    assert_int_equal(drops.no_stack, load.refused);
    assert_int_equal(fixture.decoded.stack_records, load.stacks);
}

static void
trace_any_session(void)
{
    const uint32_t events = draw(EVENTS_MAX);
    const uint32_t late = draw(2 * EVENTS_MAX);

    memset(load.known, 0, sizeof load.known);
    load.stacks = load.count = 0;
    load.frames = load.refused = 0;
    tracer_fixture_begin(&fixture, &caller, 1);
    assert_int_equal(prof_trace_drops(fixture.trace).no_buffer, 0);
    assert_int_equal(prof_trace_drops(fixture.trace).no_stack, 0);
    for (uint32_t i = 0; i < events; i++) {
        emit_any();
        if (draw(20) == 0)
            assert_int_equal(tracer_fixture_read(&fixture), PROF_ERR_AGAIN);
        if (i == late) /* in clock order half of the numbers are used */
            fixture.ticks += UINT64_C(1)
                             << (load.config.procs_max > 2 ? 59 : 60);
        if (draw(20) == 0)
            prof_trace_proc_free(fixture.trace, draw(load.config.procs_max));
    }
    tracer_fixture_end(&fixture);
    check_session();
}

/* Whatever the sessions before it did, a session has its own events, stacks and
 * losses: all events, or the first ones, and those that are lost are counted.
 */
static void
each_session_is_its_own(void **state)
{
    (void)state;
    drawn = 1;
    for (int world = 0; world < 40; world++) {
        load.config = (struct prof_trace_config){
            .procs_max = 1 + draw(4),
            .buffers_max = 7 + draw(20),
            .buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN + draw(60),
            .stacks_max = 1 + draw(40),
            .frames_max = 8 + draw(100),
        };
        tracer_fixture_close(&fixture);
        tracer_fixture_open(&fixture, &load.config);
        for (int session = 0; session < 10; session++)
            trace_any_session();
    }
}

int
main(void)
{
#define WITH(name)                            \
    cmocka_unit_test_prestate_setup_teardown( \
        name, tracer_fixture_setup, tracer_fixture_teardown, &fixture)
    const struct CMUnitTest tests[] = {
        WITH(a_buffer_of_any_size_shows_the_same_events),
        WITH(a_configuration_out_of_range_is_refused),
        WITH(a_later_session_has_room_for_as_many_stacks),
        WITH(events_without_a_buffer_are_counted_and_what_is_read_has_no_gap),
        WITH(each_session_is_its_own),
    };

    int failed = cmocka_run_group_tests_name("stamps", tests, NULL, NULL);

    tracer_fixture_order = PROF_TRACE_ORDER_CLOCK;
    failed += cmocka_run_group_tests_name("clock", tests, NULL, NULL);
    return failed;
}
