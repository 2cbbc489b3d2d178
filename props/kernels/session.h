/* session.h -- a tracer, made anew in each run; its file, read and checked. */
#ifndef PROPS_KERNELS_SESSION_H
#define PROPS_KERNELS_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "explore/engine/explore.h"
#include "prof/trace.h"

enum {
    SESSION_BYTES_MAX = 2048,
    SESSION_EVENTS_MAX = 32,
    SESSION_ARGS_MAX = 3
};

/* The bytes of one session, in the order in which they were read. */
struct session_file {
    uint8_t bytes[SESSION_BYTES_MAX];
    size_t count;
};

struct session_event {
    uint64_t proc;
    uint64_t sequence;
    uint64_t ticks;
    uint64_t args[SESSION_ARGS_MAX]; /* the event's arguments */
    uint32_t kind;
};

/* Events in the order of their sequence numbers. */
struct session_events {
    struct session_event at[SESSION_EVENTS_MAX];
    uint32_t count;
};

extern struct prof_trace *session_trace;

/*
 * Make a tracer of two processors and four small buffers; it is off. If it
 * orders events by stamps, its clock is moved by session_tick(); if it orders
 * them by the clock, its clock is the processor's counter (counter.h).
 */
void session_make(enum prof_trace_order order);

/* Make the same tracer, and start it. */
void session_new(enum prof_trace_order order);

/* Lists the tasks of a world that has one. in, out: context, a bool: was the
 * task listed? */
bool session_one_task(void *context, struct prof_trace_task *task);

/* Begin a session: one task, the caller, on processor 0. */
enum prof_status session_start(void);
enum prof_status session_stop(void);

/* Advance the clock of the tracer by one tick. */
void session_tick(void);

/* Emit an event on processor `proc`. The variant _full then queues the buffer
 * as if it were full. */
void session_emit_full(uint32_t proc);
void session_emit(uint32_t proc);

/* Emit an event of a kind that depends on what other processors did. */
void session_emit_crossing(uint32_t proc, uint64_t argument);

/* Take the next bytes. returns: as prof_trace_read() */
enum prof_status session_read(struct session_file *file);

/* Stop, and read to the end. */
void session_end(struct session_file *file);

/*
 * Check that the file is complete and in order: its parts; each processor's
 * events by sequence number, without duplicates; clock readings in the same
 * order as the numbers.
 *
 * out:     *events
 */
void session_check(const struct session_file *file,
                   struct session_events *events);

/* Check that no number is missing: every stamp belongs to an event. */
void session_check_gapless(const struct session_events *events);

/* returns: how many events of that kind */
uint32_t session_count(const struct session_events *events, uint32_t kind);

#endif
