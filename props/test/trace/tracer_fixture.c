/* tracer_fixture.c -- see tracer_fixture.h. */
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "prof/prof.h"
#include "tracer_fixture.h"
#include "unit_test.h"

enum prof_trace_order tracer_fixture_order = PROF_TRACE_ORDER_STAMPS;
bool tracer_fixture_has_counter = false;

static uint64_t
read_ticks(void *context)
{
    struct tracer_fixture *fixture = context;
    const uint64_t ticks = fixture->ticks;

    fixture->ticks += fixture->tick_step;
    return ticks;
}

static uint64_t
read_ns(void *context)
{
    const struct tracer_fixture *fixture = context;

    return fixture->ns + fixture->ticks;
}

void
tracer_fixture_open(struct tracer_fixture *fixture,
                    const struct prof_trace_config *config)
{
    struct prof_trace_config mine = *config;
    size_t bytes;

    memset(fixture, 0, sizeof *fixture);
    fixture->ticks = 1000000;
    fixture->tick_step = 64;
    mine.order = tracer_fixture_order;
    if (!tracer_fixture_has_counter)
        fixture->clock =
            (struct prof_trace_clock){read_ticks, read_ns, fixture};
    mine.clock = fixture->clock;
    bytes = prof_trace_bytes_needed(&mine);
    assert_int_not_equal(bytes, 0);
    fixture->block = props_block(bytes, 0);
    assert_int_equal(
        prof_trace_init(&fixture->trace, &mine, fixture->block, bytes),
        PROF_OK);
    fixture->buffer_bytes =
        mine.buffer_bytes != 0 ? mine.buffer_bytes : PROF_TRACE_BUFFER_BYTES;
    fixture->bytes_max = 1 << 20;
    fixture->bytes = malloc(fixture->bytes_max);
    assert_non_null(fixture->bytes);
    model_trace_init(&fixture->decoded);
}

void
tracer_fixture_close(struct tracer_fixture *fixture)
{
    model_trace_release(&fixture->decoded);
    free(fixture->bytes);
    free(fixture->block);
}

const struct prof_trace_config tracer_fixture_small = {
    .procs_max = 4,
    .buffers_max = 64,
    .buffer_bytes = 512,
    .stacks_max = 64,
};

int
tracer_fixture_setup(void **state)
{
    tracer_fixture_open(*state, &tracer_fixture_small);
    return 0;
}

int
tracer_fixture_teardown(void **state)
{
    tracer_fixture_close(*state);
    return 0;
}

static bool
next_task(void *context, struct prof_trace_task *task)
{
    struct tracer_fixture *fixture = context;

    if (fixture->tasks_given == fixture->tasks_count)
        return false;
    *task = fixture->tasks[fixture->tasks_given++];
    return true;
}

enum prof_status
tracer_fixture_start(struct tracer_fixture *fixture,
                     const struct prof_trace_task *tasks, uint32_t tasks_count)
{
    fixture->tasks = tasks;
    fixture->tasks_count = tasks_count;
    fixture->tasks_given = 0;
    return prof_trace_start(fixture->trace,
                            &(struct prof_trace_world){
                                .proc = 0,
                                .thread = 7,
                                .task = tasks[0].id,
                                .next = next_task,
                                .context = fixture,
                                .is_collecting = fixture->is_collecting,
                            });
}

enum prof_status
tracer_fixture_stop(struct tracer_fixture *fixture)
{
    return prof_trace_stop(fixture->trace, 0, NULL, 0);
}

void
tracer_fixture_begin(struct tracer_fixture *fixture,
                     const struct prof_trace_task *tasks, uint32_t tasks_count)
{
    tracer_fixture_forget(fixture);
    assert_int_equal(tracer_fixture_start(fixture, tasks, tasks_count),
                     PROF_OK);
}

void
tracer_fixture_end(struct tracer_fixture *fixture)
{
    assert_int_equal(tracer_fixture_stop(fixture), PROF_OK);
    tracer_fixture_decode(fixture);
}

enum prof_status
tracer_fixture_read(struct tracer_fixture *fixture)
{
    const uint8_t *bytes;
    size_t count;
    enum prof_status status;

    while ((status = prof_trace_read(fixture->trace, &bytes, &count)) ==
           PROF_OK) {
        assert_int_not_equal(count, 0);
        assert_true(count <= fixture->buffer_bytes);
        assert_true(count <= fixture->bytes_max - fixture->bytes_count);
        assert_true(fixture->chunks < FIXTURE_CHUNKS_MAX);
        memcpy(&fixture->bytes[fixture->bytes_count], bytes, count);
        fixture->bytes_count += count;
        fixture->chunk_ends[fixture->chunks++] = fixture->bytes_count;
    }
    return status;
}

void
tracer_fixture_forget(struct tracer_fixture *fixture)
{
    fixture->bytes_count = 0;
    fixture->chunks = 0;
}

void
tracer_fixture_decode(struct tracer_fixture *fixture)
{
    assert_int_equal(tracer_fixture_read(fixture), PROF_ERR_END);
    if (model_trace_read(&fixture->decoded, fixture->bytes,
                         fixture->bytes_count) != MODEL_TRACE_OK)
        fail_msg("not accepted: %s", fixture->decoded.reason.text);
    assert_int_equal(fixture->decoded.duplicate_seqs, 0);
}

void
tracer_fixture_emit(struct tracer_fixture *fixture, uint32_t proc,
                    enum prof_trace_event event, uint64_t arg)
{
    prof_trace_emit(fixture->trace, proc, event, &arg, NULL, 0);
}

const struct model_trace_event *
tracer_fixture_find(const struct tracer_fixture *fixture,
                    enum model_trace_type type, uint32_t n)
{
    for (uint32_t i = 0; i < model_trace_count(&fixture->decoded); i++) {
        const struct model_trace_event *event =
            model_trace_at(&fixture->decoded, i);

        if (event->type == type && n-- == 0)
            return event;
    }
    fail_msg("there is no such event");
    return NULL;
}
