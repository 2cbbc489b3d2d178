/* tracer_lab.c -- see tracer_lab.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prof/prof.h"
#include "tracer_lab.h"

enum prof_trace_order tracer_lab_order = PROF_TRACE_ORDER_STAMPS;
bool tracer_lab_has_counter = false;

static uint64_t
read_ticks(void *context)
{
    struct tracer_lab *lab = context;
    const uint64_t ticks = lab->ticks;

    lab->ticks += lab->tick_step;
    return ticks;
}

static uint64_t
read_ns(void *context)
{
    const struct tracer_lab *lab = context;

    return lab->ns + lab->ticks;
}

void
tracer_lab_open(struct tracer_lab *lab, const struct prof_trace_config *config)
{
    struct prof_trace_config mine = *config;
    size_t bytes;

    memset(lab, 0, sizeof *lab);
    lab->ticks = 1000000;
    lab->tick_step = 64;
    mine.order = tracer_lab_order;
    mine.clock = tracer_lab_has_counter
                     ? (struct prof_trace_clock){0}
                     : (struct prof_trace_clock){read_ticks, read_ns, lab};
    bytes = prof_trace_bytes_needed(&mine);
    assert_int_not_equal(bytes, 0);
    lab->block = aligned_alloc(PROF_BLOCK_ALIGN,
                               (bytes + PROF_BLOCK_ALIGN - 1) /
                                   PROF_BLOCK_ALIGN * PROF_BLOCK_ALIGN);
    assert_non_null(lab->block);
    memset(lab->block, 0, bytes);
    assert_int_equal(prof_trace_init(&lab->trace, &mine, lab->block, bytes),
                     PROF_OK);
    lab->buffer_bytes =
        mine.buffer_bytes != 0 ? mine.buffer_bytes : PROF_TRACE_BUFFER_BYTES;
    lab->bytes_max = 1 << 20;
    lab->bytes = malloc(lab->bytes_max);
    assert_non_null(lab->bytes);
    model_trace_init(&lab->decoded);
}

void
tracer_lab_close(struct tracer_lab *lab)
{
    model_trace_release(&lab->decoded);
    free(lab->bytes);
    free(lab->block);
}

const struct prof_trace_config tracer_lab_small = {
    .procs_max = 4,
    .buffers_max = 64,
    .buffer_bytes = 512,
    .stacks_max = 64,
};

int
tracer_lab_setup(void **state)
{
    tracer_lab_open(*state, &tracer_lab_small);
    return 0;
}

int
tracer_lab_teardown(void **state)
{
    tracer_lab_close(*state);
    return 0;
}

static bool
next_task(void *context, struct prof_trace_task *task)
{
    struct tracer_lab *lab = context;

    if (lab->tasks_given == lab->tasks_count)
        return false;
    *task = lab->tasks[lab->tasks_given++];
    return true;
}

enum prof_status
tracer_lab_start(struct tracer_lab *lab, const struct prof_trace_task *tasks,
                 uint32_t tasks_count)
{
    lab->tasks = tasks;
    lab->tasks_count = tasks_count;
    lab->tasks_given = 0;
    return prof_trace_start(lab->trace, &(struct prof_trace_world){
                                            .proc = 0,
                                            .thread = 7,
                                            .task = tasks[0].id,
                                            .next = next_task,
                                            .context = lab,
                                            .is_collecting = lab->is_collecting,
                                        });
}

enum prof_status
tracer_lab_stop(struct tracer_lab *lab)
{
    return prof_trace_stop(lab->trace, 0, NULL, 0);
}

void
tracer_lab_begin(struct tracer_lab *lab, const struct prof_trace_task *tasks,
                 uint32_t tasks_count)
{
    tracer_lab_forget(lab);
    assert_int_equal(tracer_lab_start(lab, tasks, tasks_count), PROF_OK);
}

void
tracer_lab_end(struct tracer_lab *lab)
{
    assert_int_equal(tracer_lab_stop(lab), PROF_OK);
    tracer_lab_decode(lab);
}

enum prof_status
tracer_lab_read(struct tracer_lab *lab)
{
    const uint8_t *bytes;
    size_t count;
    enum prof_status status;

    while ((status = prof_trace_read(lab->trace, &bytes, &count)) == PROF_OK) {
        assert_int_not_equal(count, 0);
        assert_true(count <= lab->buffer_bytes);
        assert_true(count <= lab->bytes_max - lab->bytes_count);
        assert_true(lab->chunks < LAB_CHUNKS_MAX);
        memcpy(&lab->bytes[lab->bytes_count], bytes, count);
        lab->bytes_count += count;
        lab->chunk_ends[lab->chunks++] = lab->bytes_count;
    }
    return status;
}

void
tracer_lab_forget(struct tracer_lab *lab)
{
    lab->bytes_count = 0;
    lab->chunks = 0;
}

void
tracer_lab_decode(struct tracer_lab *lab)
{
    assert_int_equal(tracer_lab_read(lab), PROF_ERR_END);
    if (model_trace_read(&lab->decoded, lab->bytes, lab->bytes_count) !=
        MODEL_TRACE_OK)
        fail_msg("not accepted: %s", lab->decoded.reason.text);
    assert_int_equal(lab->decoded.duplicate_seqs, 0);
}

void
tracer_lab_emit(struct tracer_lab *lab, uint32_t proc,
                enum prof_trace_event event, uint64_t arg)
{
    prof_trace_emit(lab->trace, proc, event, &arg, NULL, 0);
}

const struct model_trace_event *
tracer_lab_find(const struct tracer_lab *lab, enum model_trace_type type,
                uint32_t n)
{
    for (uint32_t i = 0; i < model_trace_count(&lab->decoded); i++) {
        const struct model_trace_event *event =
            model_trace_at(&lab->decoded, i);

        if (event->type == type && n-- == 0)
            return event;
    }
    fail_msg("there is no such event");
    return NULL;
}
