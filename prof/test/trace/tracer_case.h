/*
 * tracer_case.h -- a tracer whose clock the test sets, and all bytes that were
 * read from it.
 */
#ifndef PROF_TEST_TRACE_TRACER_CASE_H
#define PROF_TEST_TRACE_TRACER_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/trace.h"
#include "model/trace/trace_reader.h"

struct tracer_case {
    struct prof_trace *trace;
    uint64_t ticks;     /* the next reading of the clock, in ticks of 1 ns */
    uint64_t ns;        /* added to the ticks for the clock in ns */
    uint64_t tick_step; /* added after each reading; 64 */
    struct prof_trace_clock clock; /* reads these */
    bool is_collecting;
    uint8_t *bytes; /* of this session */
    size_t bytes_count;
    uint32_t parts;
    struct model_trace decoded;
};

extern struct tracer_case one;

/* The order of events for tracers that are made from now on. */
extern enum prof_trace_order tracer_order;

/* Make a tracer that is off, in place of the last one. in: config; its clock
 * and its order are replaced */
void tracer_open(const struct prof_trace_config *config);

/* A usual tracer. The set-up of a test makes one. */
extern const struct prof_trace_config tracer_small;
int tracer_case_begin(void **state);
int tracer_case_end(void **state);

#define TRACER_TEST(name) TEST_WITH(tracer_case_begin, tracer_case_end, name)

/* Start on processor 0 with these tasks, the first of which makes the call. */
enum prof_status tracer_start(const struct prof_trace_task *tasks,
                              uint32_t tasks_count);
enum prof_status tracer_stop(void);

/* Forget what was read, and start. The start must succeed. */
void tracer_begin(const struct prof_trace_task *tasks, uint32_t tasks_count);

/* Stop, read to the end, and decode. All must succeed. */
void tracer_end(void);

/* Read what there is. returns: the status that ended the reading */
enum prof_status tracer_read(void);

/* Emit an event with up to one argument, without a stack. */
void tracer_emit(uint32_t proc, enum prof_trace_event event, uint64_t arg);

/* returns: the n-th event of the type in decoded order; it must be there */
const struct model_trace_event *tracer_find(enum model_trace_type type,
                                            uint32_t n);

#endif
