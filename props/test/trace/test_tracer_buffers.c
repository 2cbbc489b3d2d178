/*
 * test_tracer_buffers.c -- the tracer's buffers: any size, too few of them,
 * room for stacks, and impossible configurations.
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
    };

    int failed = cmocka_run_group_tests_name("stamps", tests, NULL, NULL);

    tracer_fixture_order = PROF_TRACE_ORDER_CLOCK;
    failed += cmocka_run_group_tests_name("clock", tests, NULL, NULL);
    return failed;
}
