/* session.h -- a tracer that is new in each run, and what was read of it. */
#ifndef PROPS_KERNELS_SESSION_H
#define PROPS_KERNELS_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "explore.h"
#include "prof/trace.h"

enum {
    SESSION_BYTES_MAX = 2048,
    SESSION_EVENTS_MAX = 32,
    SESSION_ARGS_MAX = 3
};

/* The bytes of one session, as one reader took them. */
struct session_file {
    uint8_t bytes[SESSION_BYTES_MAX];
    size_t count;
};

struct session_event {
    uint64_t proc;
    uint64_t sequence;
    uint64_t ticks;
    uint64_t args[SESSION_ARGS_MAX]; /* as many as it has */
    uint32_t kind;
};

/* Events in the order of their numbers. */
struct session_events {
    struct session_event at[SESSION_EVENTS_MAX];
    uint32_t count;
};

extern struct prof_trace *session_trace;

/*
 * A tracer of two processors and four small buffers, which is off. By stamps
 * its clock is session_tick(); by the clock, it is the processor's counter.
 */
void session_make(enum prof_trace_order order);

/* The same, and it is on. */
void session_new(enum prof_trace_order order);

/* A world of one task, which is listed once. in: context, a bool: was it
 * listed? */
bool session_one_task(void *context, struct prof_trace_task *task);

/* Begin a session: one task, the caller, on processor 0. */
enum prof_status session_start(void);
enum prof_status session_stop(void);

/* The clock of the tracer goes on by one tick. */
void session_tick(void);

/* An event of processor `proc`, which goes into the queue at once. */
void session_emit_full(uint32_t proc);
void session_emit(uint32_t proc);

/* An event that follows from what other processors did. */
void session_emit_crossing(uint32_t proc, uint64_t argument);

/* Take the next bytes. returns: as prof_trace_read() */
enum prof_status session_read(struct session_file *file);

/* Stop, and read to the end. */
void session_end(struct session_file *file);

/*
 * The file must be whole: its parts in order, each processor's events in the
 * order of their numbers, no number twice, clock readings in the same order as
 * numbers.
 *
 * out:     *events
 */
void session_check(const struct session_file *file,
                   struct session_events *events);

/* No number is missing: every stamp was that of an event. */
void session_check_gapless(const struct session_events *events);

/* returns: how many events of that kind */
uint32_t session_count(const struct session_events *events, uint32_t kind);

#endif
