/*
 * trace.c -- the events of one run, kept only while a report is made.
 */
#include "engine.h"

struct trace_event *
sim_trace_add(enum sim_op op, uintptr_t site)
{
    struct engine *e = &sim_engine;
    struct trace_event *event;

    if (e->trace == NULL || e->trace_count == TRACE_MAX)
        return NULL;
    event = &e->trace[e->trace_count++];
    *event = (struct trace_event){.op = op,
                                  .thread = e->current,
                                  .site = site,
                                  .from = TRACE_MAX,
                                  .newest = TRACE_MAX,
                                  .before = TRACE_MAX,
                                  .choice = e->choices->count};
    return event;
}
