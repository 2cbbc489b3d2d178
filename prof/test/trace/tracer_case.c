/* tracer_case.c -- see tracer_case.h. */
#include <stdlib.h>
#include <string.h>

#include "common/test/aligned_block.h"
#include "prof/test/trace/tracer_case.h"
#include "common/test/unit_test.h"

enum { BYTES_MAX = 1 << 20 };

struct tracer_case one;
enum prof_trace_order tracer_order = PROF_TRACE_ORDER_STAMPS;

const struct prof_trace_config tracer_small = {
    .procs_max = 4,
    .buffers_max = 64,
    .buffer_bytes = 512,
    .stacks_max = 64,
};

static uint64_t
read_ticks(void *context)
{
    (void)context;
    one.ticks += one.tick_step;
    return one.ticks - one.tick_step;
}

static uint64_t
read_ns(void *context)
{
    (void)context;
    return one.ns + one.ticks;
}

void
tracer_open(const struct prof_trace_config *config)
{
    struct prof_trace_config mine = *config;
    size_t bytes;

    free(one.trace);
    one.bytes_count = 0;
    one.ticks = 1000000;
    one.ns = 0;
    one.tick_step = 64;
    one.clock = (struct prof_trace_clock){read_ticks, read_ns, NULL};
    mine.order = tracer_order;
    mine.clock = one.clock;
    bytes = prof_trace_bytes_needed(&mine);
    assert_int_not_equal(bytes, 0);
    assert_int_equal(
        prof_trace_init(&one.trace, &mine, props_block(bytes, 0), bytes),
        PROF_OK);
}

int
tracer_case_begin(void **state)
{
    (void)state;
    memset(&one, 0, sizeof one);
    one.bytes = malloc(BYTES_MAX);
    model_trace_init(&one.decoded);
    tracer_open(&tracer_small);
    return one.bytes == NULL;
}

int
tracer_case_end(void **state)
{
    (void)state;
    model_trace_release(&one.decoded);
    free(one.bytes);
    free(one.trace);
    return 0;
}

struct listing {
    const struct prof_trace_task *tasks;
    uint32_t left;
};

static bool
next_task(void *context, struct prof_trace_task *task)
{
    struct listing *listing = context;

    if (listing->left == 0)
        return false;
    listing->left--;
    *task = *listing->tasks++;
    return true;
}

enum prof_status
tracer_start(const struct prof_trace_task *tasks, uint32_t tasks_count)
{
    struct listing listing = {tasks, tasks_count};
    const struct prof_trace_world world = {.thread = 7,
                                           .task = tasks[0].id,
                                           .next = next_task,
                                           .context = &listing,
                                           .is_collecting = one.is_collecting};

    return prof_trace_start(one.trace, &world);
}

enum prof_status
tracer_stop(void)
{
    return prof_trace_stop(one.trace, 0, NULL, 0);
}

void
tracer_begin(const struct prof_trace_task *tasks, uint32_t tasks_count)
{
    one.bytes_count = 0;
    one.parts = 0;
    assert_int_equal(tracer_start(tasks, tasks_count), PROF_OK);
}

void
tracer_end(void)
{
    assert_int_equal(tracer_stop(), PROF_OK);
    assert_int_equal(tracer_read(), PROF_ERR_END);
    if (model_trace_read(&one.decoded, one.bytes, one.bytes_count) !=
        MODEL_TRACE_OK)
        fail_msg("not accepted: %s", one.decoded.reason.text);
    assert_int_equal(one.decoded.duplicate_seqs, 0);
}

enum prof_status
tracer_read(void)
{
    const uint8_t *bytes;
    size_t count;
    enum prof_status status;

    while ((status = prof_trace_read(one.trace, &bytes, &count)) == PROF_OK) {
        assert_in_range(count, 1, BYTES_MAX - one.bytes_count);
        memcpy(&one.bytes[one.bytes_count], bytes, count);
        one.bytes_count += count;
        one.parts++;
    }
    return status;
}

void
tracer_emit(uint32_t proc, enum prof_trace_event event, uint64_t arg)
{
    prof_trace_emit(one.trace, proc, event, &arg, NULL, 0);
}

const struct model_trace_event *
tracer_find(enum model_trace_type type, uint32_t n)
{
    for (uint32_t i = 0; i < model_trace_count(&one.decoded); i++) {
        const struct model_trace_event *event = model_trace_at(&one.decoded, i);

        if (event->type == type && n-- == 0)
            return event;
    }
    fail_msg("there is no such event");
    return NULL;
}
