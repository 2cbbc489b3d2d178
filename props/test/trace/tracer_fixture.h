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
    size_t buffer_bytes; /* no buffer that is read has more */
    uint64_t ticks;      /* what the clock reads next */
    uint64_t ns;
    uint64_t tick_step; /* added after each reading */
    const struct prof_trace_task *tasks;
    uint32_t tasks_count;
    uint32_t tasks_given;
    bool is_collecting;
    uint8_t *bytes; /* of the session */
    size_t bytes_count;
    size_t bytes_max;
    size_t chunk_ends[FIXTURE_CHUNKS_MAX];
    uint32_t chunks;
    struct model_trace decoded;
};

/* The order of the tracers that are opened from now on. */
extern enum prof_trace_order tracer_fixture_order;

/* They read the processor's own counter, instead of a clock that the test
 * sets. */
extern bool tracer_fixture_has_counter;

/*
 * Make a tracer that is off. Its clock has one tick per nanosecond, and
 * advances by 64 ticks with each reading.
 *
 * in:      config, its clock and its order are replaced
 */
void tracer_fixture_open(struct tracer_fixture *fixture,
                         const struct prof_trace_config *config);
void tracer_fixture_close(struct tracer_fixture *fixture);

/* A usual tracer. As a test's fixture, it makes a tracer for the fixture
 * that *state is. */
extern const struct prof_trace_config tracer_fixture_small;
int tracer_fixture_setup(void **state);
int tracer_fixture_teardown(void **state);

/* Start with these tasks, the first of which calls, on processor 0. */
enum prof_status tracer_fixture_start(struct tracer_fixture *fixture,
                                      const struct prof_trace_task *tasks,
                                      uint32_t tasks_count);

/* Stop on processor 0. */
enum prof_status tracer_fixture_stop(struct tracer_fixture *fixture);

/* Forget what was read, and start; that must work. */
void tracer_fixture_begin(struct tracer_fixture *fixture,
                          const struct prof_trace_task *tasks,
                          uint32_t tasks_count);

/* Stop, which must work, read to the end and decode. */
void tracer_fixture_end(struct tracer_fixture *fixture);

/* Read what there is; returns: what ended it. */
enum prof_status tracer_fixture_read(struct tracer_fixture *fixture);

/* Forget what was read. */
void tracer_fixture_forget(struct tracer_fixture *fixture);

/* Read to the end, which must come, and decode; the verdict must be ok. */
void tracer_fixture_decode(struct tracer_fixture *fixture);

/* Emit an event with up to one argument, without a stack. */
void tracer_fixture_emit(struct tracer_fixture *fixture, uint32_t proc,
                         enum prof_trace_event event, uint64_t arg);

/* returns: the n-th event of the type in decoded order; it must be there */
const struct model_trace_event *
tracer_fixture_find(const struct tracer_fixture *fixture,
                    enum model_trace_type type, uint32_t n);

#endif
