/* traced.h -- what the kernels of a tracer do in either order of events. */
#ifndef PROPS_KERNELS_TRACED_H
#define PROPS_KERNELS_TRACED_H

#include "session.h"

/* Of the run: what was read of its first session, and of its second. */
extern struct session_file traced_file;
extern struct session_file traced_second_file;
extern struct session_events traced_events; /* of the file that was read last */

/* A tracer that is on, and nothing read. */
void traced_new(enum prof_trace_order order);

/* End the first session: it must have so many events of session_emit(). */
void traced_expect(uint32_t count);

/* Look at a file. returns: its events of session_emit() */
uint32_t traced_look(const struct session_file *file);

/* ---- As threads do ---- */

void traced_emit_twice(void *context, uint32_t thread);
void traced_emit_without_processor(void *context, uint32_t thread);
void traced_read_some(void *context, uint32_t thread);

/* The next session begins when this one was read to its end. */
void traced_stop_and_start(void *context, uint32_t thread);

/* The same in a stopped world, during a return from a system call, and at
 * the end: the return is told once, in its own session. */
void traced_stop_and_start_stopped(void *context, uint32_t thread);
void traced_return(void *context, uint32_t thread);
void traced_one_return(void *context);

/* A return that has no processor, so no stopped world stops it: between two
 * sessions it is in neither. */
void traced_return_without_processor(void *context, uint32_t thread);
void traced_return_or_none(void *context);

#endif
