/* traced.h -- parts of kernels that trace.c (events ordered by stamps) and
 * trace_clock.c (ordered by the clock) share. */
#ifndef PROPS_KERNELS_TRACED_H
#define PROPS_KERNELS_TRACED_H

#include "props/kernels/session.h"

/* What was read of the first and of the second session of this run. */
extern struct session_file traced_file;
extern struct session_file traced_second_file;
extern struct session_events traced_events; /* the events of the file read
                                             * last */

/* Begin a run: start a new tracer. */
void traced_new(enum prof_trace_order order);

/* End the first session, which must have `count` events of session_emit(). */
void traced_expect(uint32_t count);

/* Check a file. returns: how many events of session_emit() it has */
uint32_t traced_look(const struct session_file *file);

/* ---- Bodies of threads ---- */

void traced_emit_twice(void *context, uint32_t thread);
void traced_emit_without_processor(void *context, uint32_t thread);
void traced_read_some(void *context, uint32_t thread);

/* Stop; start the next session once this one was read to its end. */
void traced_stop_and_start(void *context, uint32_t thread);

/* The same in a stopped world, while another thread returns from a system call.
 * In the end the return must be in the trace once, in the session in which it
 * happened. */
void traced_stop_and_start_stopped(void *context, uint32_t thread);
void traced_return(void *context, uint32_t thread);
void traced_one_return(void *context);

/* A return on no processor, which a stopped world does not stop. If it happens
 * between two sessions, it is in neither. */
void traced_return_without_processor(void *context, uint32_t thread);
void traced_return_or_none(void *context);

#endif
