/*
 * fence.c -- fences, and the barrier on all threads.
 *
 * A fence acts on clocks alone: an acquire fence learns what earlier relaxed
 * loads read (pending), a release fence fixes what later relaxed stores
 * publish (release), a seq_cst fence also learns from all earlier ones.
 */
#include "engine.h"

enum event_kind { EVENT_FENCE = 4, EVENT_BARRIER };

void
sim_atomic_fence(int order, uintptr_t site)
{
    struct engine *e = &sim_engine;
    struct thread *t = sim_self();
    struct trace_event *event;

    if (order == __ATOMIC_RELAXED || t->probing)
        return;
    if (order == __ATOMIC_SEQ_CST)
        sim_engine_point(site);
    event = sim_trace_add(SIM_OP_FENCE, site);
    if (event != NULL)
        event->order = order;
    sim_engine_event(EVENT_FENCE, order == __ATOMIC_SEQ_CST
                                      ? 1 + (uint64_t)e->seq_cst_fences
                                      : 0);
    if (sim_acquires(order))
        sim_clock_join(&t->now, &t->pending);
    if (order == __ATOMIC_SEQ_CST) {
        sim_clock_join(&t->now, &e->seq_cst);
        sim_clock_join(&t->floor, &e->seq_cst_store);
        e->seq_cst = t->now;
        e->seq_cst_fences++;
    }
    if (sim_releases(order))
        t->release = t->now;
    sim_engine_after_event();
}

/* What a full fence on thread i learns before it is told anything. */
static void
barrier_arrive(uint32_t i)
{
    struct engine *e = &sim_engine;
    struct thread *t = &e->threads[i];

    /* An event of the other thread: it covers the plain accesses before. */
    if (i != e->current)
        t->now.at[i]++;
    sim_clock_join(&t->now, &t->pending);
    sim_clock_join(&t->floor, &e->seq_cst_store);
}

void
sim_explore_barrier(void)
{
    const uintptr_t site = (uintptr_t)__builtin_return_address(0);
    struct engine *e = &sim_engine;
    struct thread *me = sim_self();
    struct clock told;
    uint64_t where = e->seq_cst_fences;

    if (!e->active)
        return;
    sim_engine_point(site);
    sim_trace_add(SIM_OP_BARRIER, site);
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (i != e->current)
            where = sim_mix64(where * 31 + e->threads[i].now.at[i]);
    }
    sim_engine_event(EVENT_BARRIER, where);
    for (uint32_t i = 0; i < e->threads_count; i++)
        barrier_arrive(i);
    sim_clock_join(&me->now, &e->seq_cst);
    told = me->now;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        struct thread *t = &e->threads[i];

        sim_clock_join(&me->now, &t->now);
        sim_clock_join(&t->now, &told);
        t->release = t->now;
    }
    me->release = me->now;
    e->seq_cst = me->now;
    e->seq_cst_fences++;
    sim_engine_after_event();
}
