/*
 * switch.c -- from one thread to another, and out of the run.
 *
 * Threads are fibers of one thread of the system (fiber.h). The run has a
 * fiber, too, which started them: to stop is to switch to it and never to come
 * back.
 */
#include "explore/engine/engine.h"

#include <stdlib.h>
#include <time.h>

void
sim_engine_go(struct engine *e, uint32_t next)
{
    struct sim_fiber *from = &sim_self(e)->fiber;

    if (next == e->current)
        return;
    e->current = next;
    sim_fiber_switch(from, &e->threads[next].fiber);
}

_Noreturn void
sim_engine_stop(struct engine *e, enum sim_end end)
{
    e->run->end = end;
    e->active = false;
    sim_fiber_switch(&sim_self(e)->fiber, &e->main);
    abort(); /* a stopped fiber is never resumed */
}

void
sim_engine_failure_set(struct engine *e, enum sim_failure_kind kind,
                       uintptr_t site, uintptr_t other_site, const char *text)
{
    struct sim_failure *f = &e->run->failure;

    f->kind = kind;
    f->thread = e->current;
    f->site = site;
    f->other_site = other_site;
    if (e->trace_stop != 0)
        sim_trace_stop(e); /* the failure precedes the event to stop at */
    snprintf(f->text, sizeof f->text, "%s", text);
}

_Noreturn void
sim_engine_refuse(struct engine *e, enum sim_failure_kind kind, uintptr_t site,
                  uintptr_t other_site, const char *text)
{
    sim_engine_failure_set(e, kind, site, other_site, text);
    sim_engine_stop(e, SIM_END_FAILED);
}

bool
sim_engine_is_late(const struct engine *e)
{
    struct timespec now;

    if (e->end_us == 0)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 >=
           e->end_us;
}

void
sim_engine_look_at_clock(struct engine *e)
{
    if (e->end_us == 0 || !sim_engine_is_late(e))
        return;
    e->late = true;
    sim_engine_stop(e, SIM_END_BLOCKED);
}
