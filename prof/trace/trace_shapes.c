/* trace_shapes.c -- the layout of each kind of event. */
#include "prof/trace/tracer.h"

#define FIRST(number, more) ((number) | ((more) < 3 ? (more) : 3) << 6)

/* May another processor have caused the event? It may have made a task ready,
 * or begun a collection. */
#define CROSSES(number)                                                \
    ((number) == PROF_EV_PROC_START || (number) == PROF_EV_GC_START || \
     (number) == PROF_EV_GC_DONE || (number) == PROF_EV_GO_START ||    \
     (number) == PROF_EV_GO_UNBLOCK || (number) == PROF_EV_GO_SYSEXIT)

const struct trace_shape prof_trace_shapes[TRACE_SHAPES] = {
#define PROF_X(id, number, name, args, stack)                          \
    [number] = {args, stack, !(stack) && (args) <= 1, CROSSES(number), \
                FIRST(number, (args) + (stack))},
#include "prof/trace_event.def"
#undef PROF_X
};
