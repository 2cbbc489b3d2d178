/*
 * tracer_fixture.h -- a tracer whose clock the test sets, and all bytes that
 * were read from it.
 */
#ifndef PROPS_TRACER_FIXTURE_H
#define PROPS_TRACER_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/trace.h"
#include "trace_reader.h"

enum { FIXTURE_CHUNKS_MAX = 4096 };

struct tracer_fixture {
    struct prof_trace *trace;
    void *block;
    size_t buffer_bytes; /* no part may be longer */
    uint64_t ticks;      /* the next reading of the clock */
    uint64_t ns;
    uint64_t tick_step;            /* added after each reading */
    struct prof_trace_clock clock; /* reads these */
    const struct prof_trace_task *tasks;
    uint32_t tasks_count;
    uint32_t tasks_given;
    bool is_collecting;
    uint8_t *bytes; /* of this session */
    size_t bytes_count;
    size_t bytes_max;
    size_t chunk_ends[FIXTURE_CHUNKS_MAX];
    uint32_t chunks;
    struct model_trace decoded;
};

/* The order of events for tracers that are opened from now on. */
extern enum prof_trace_order tracer_fixture_order;

/* If set, they read the processor's own counter instead of the test's clock. */
extern bool tracer_fixture_has_counter;

/*
 * Make a tracer that is off. Its clock has one tick per nanosecond, and
 * advances by 64 ticks with each reading.
 *
 * in:      config; its clock and its order are replaced
 */
void tracer_fixture_open(struct tracer_fixture *fixture,
                         const struct prof_trace_config *config);
void tracer_fixture_close(struct tracer_fixture *fixture);

/* A usual tracer. The set-up of a test makes one in the fixture to which *state
 * points. */
extern const struct prof_trace_config tracer_fixture_small;
int tracer_fixture_setup(void **state);
int tracer_fixture_teardown(void **state);

/* Start on processor 0 with these tasks, the first of which makes the call. */
enum prof_status tracer_fixture_start(struct tracer_fixture *fixture,
                                      const struct prof_trace_task *tasks,
                                      uint32_t tasks_count);

/* Stop on processor 0. */
enum prof_status tracer_fixture_stop(struct tracer_fixture *fixture);

/* Forget what was read, and start. The start must succeed. */
void tracer_fixture_begin(struct tracer_fixture *fixture,
                          const struct prof_trace_task *tasks,
                          uint32_t tasks_count);

/* Stop, read to the end, and decode. The stop must succeed. */
void tracer_fixture_end(struct tracer_fixture *fixture);

/* Read what there is. returns: the status that ended the reading */
enum prof_status tracer_fixture_read(struct tracer_fixture *fixture);

/* Forget what was read. */
void tracer_fixture_forget(struct tracer_fixture *fixture);

/* Read to the end and decode. The verdict must be ok. */
void tracer_fixture_decode(struct tracer_fixture *fixture);

/* Emit an event with up to one argument, without a stack. */
void tracer_fixture_emit(struct tracer_fixture *fixture, uint32_t proc,
                         enum prof_trace_event event, uint64_t arg);

/* returns: the n-th event of the type in decoded order; it must be there */
const struct model_trace_event *
tracer_fixture_find(const struct tracer_fixture *fixture,
                    enum model_trace_type type, uint32_t n);

#endif
