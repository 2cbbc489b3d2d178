/*
 * slice_model.c -- the events that a failure depends on, followed from one to
 * the next, each on its own.
 */
#include "slice_model.h"

#include <string.h>

struct sliced {
    const struct trace_event *trace;
    uint32_t count;
    bool stuck;
    bool in[SLICE_EVENTS_MAX];
};

static bool
locks(const struct trace_event *v)
{
    return v->address != 0 && v->op > SIM_OP_CAS;
}

static bool
matters(const struct sliced *m, uint32_t index)
{
    const struct trace_event *v = &m->trace[index];
    uint32_t by = 0;
    uint32_t writers = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct trace_event *w = &m->trace[i];
        const bool reads =
            w->op == SIM_OP_LOAD || (w->op == SIM_OP_CAS && !w->ok);

        if (w->address == v->address) {
            by |= 1U << w->thread;
            writers |= (uint32_t)!reads << w->thread;
        }
    }
    return v->address == 0 || (m->stuck && locks(v)) ||
           ((by & (by - 1)) != 0 && writers != 0);
}

static void
follow(struct sliced *m, uint32_t index)
{
    const struct trace_event *v = &m->trace[index];
    uint32_t last_of_joined = TRACE_MAX;
    uint32_t last_there = TRACE_MAX;

    if (index >= m->count || m->in[index])
        return;
    m->in[index] = true;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct trace_event *w = &m->trace[i];

        if ((i < index && w->thread == v->thread) ||
            (w->op == SIM_OP_THREAD && w->value == v->thread &&
             w->thread != v->thread))
            follow(m, i);
        if (i < index && w->thread == v->value)
            last_of_joined = i;
        if (i < index && w->address == v->address)
            last_there = i;
    }
    if (!matters(m, index))
        return;
    if (v->op == SIM_OP_THREAD && strcmp(v->what, "join") == 0)
        follow(m, last_of_joined);
    follow(m, v->from);
    follow(m, v->before);
    if (v->behind != 0)
        follow(m, v->newest);
    if (locks(v))
        follow(m, last_there);
}

uint32_t
slice_model(const struct trace_event *trace, uint32_t count,
            const struct sim_failure *failure, bool *needed)
{
    struct sliced m = {.trace = trace,
                       .count = count,
                       .stuck = failure->kind == SIM_FAIL_DEADLOCK ||
                                failure->kind == SIM_FAIL_LIVELOCK};
    const bool all = m.stuck || failure->site == 0 ||
                     failure->other_site != 0 || failure->kind == SIM_FAIL_RACE;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (all || trace[i].thread == failure->thread)
            follow(&m, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        needed[i] = m.in[i] && matters(&m, i);
        kept += needed[i];
    }
    return kept;
}
