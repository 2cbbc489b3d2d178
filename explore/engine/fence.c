/*
 * fence.c -- fences, and the barrier on all threads.
 *
 * A fence changes only the thread's clocks. An acquire fence joins in what
 * earlier relaxed loads read (`pending`); a release fence saves the clock that
 * later relaxed stores publish (`release`). A seq_cst fence does both, and
 * limits what may be read around it (seq_cst.c).
 */
#include "explore/engine/engine.h"

enum event_kind { EVENT_FENCE = 4, EVENT_BARRIER };

void
sim_atomic_fence(struct engine *e, int order, uintptr_t site)
{
    struct thread *t = sim_self(e);
    struct trace_event *event;

    if (order == __ATOMIC_RELAXED || t->run.probing)
        return;
    event = sim_trace_add(e, SIM_OP_FENCE, site);
    if (event != NULL)
        event->order = order;
    sim_engine_event(e, EVENT_FENCE, 0);
    if (sim_acquires(order))
        sim_clock_join(&t->run.now, &t->run.pending);
    if (order == __ATOMIC_SEQ_CST)
        sim_seq_cst_fence(e, site);
    if (sim_releases(order))
        t->run.release = t->run.now;
    sim_engine_after_event(e);
}

/* What thread i learns by its own full fence, apart from other threads'. */
static void
barrier_arrive(struct engine *e, uint32_t i)
{
    struct thread *t = &e->threads[i];

    if (i != e->current) {
        if (!t->run.barrier_came) {
            t->run.before_barrier = t->run.causal;
            sim_clock_join(&t->run.before_barrier, &t->run.now);
            t->run.barrier_came = true;
        }
        /* An event of that thread: it covers the plain accesses before. */
        t->run.now.at[i]++;
    }
    sim_clock_join(&t->run.now, &t->run.pending);
}

/* Full fences on all threads. */
static void
barrier_fences(struct engine *e)
{
    struct thread *me = sim_self(e);
    struct clock reported;

    for (uint32_t i = 0; i < e->threads_count; i++)
        barrier_arrive(e, i);
    reported = me->run.now;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        struct thread *t = &e->threads[i];

        sim_clock_join(&me->run.now, &t->run.now);
        sim_clock_join(&t->run.now, &reported);
        t->run.release = t->run.now;
    }
    me->run.release = me->run.now;
}

/* Order the barrier: each operation of another thread is before or after it. */
static void
barrier_point(struct engine *e, uintptr_t site)
{
    struct thread *me = sim_self(e);

    if (!e->kernel->barriers)
        sim_reduce_refuse(e);
    if (e->reduced)
        sim_shard_sleeps(e); /* two lists may lead to one graph */
    me->run.is_barrier = true;
    sim_engine_point(e, site);
    sim_order_ask(e, &e->state.barriers, false, NULL, NULL);
    sim_turn_forget_barrier(e);
    me->run.is_barrier = false;
}

void
sim_explore_barrier(void)
{
    const uintptr_t site = (uintptr_t)__builtin_return_address(0);
    struct engine *e = &sim_engine;

    if (!e->active)
        return;
    barrier_point(e, site);
    sim_trace_add(e, SIM_OP_BARRIER, site);
    /* The stamps of later events of other threads show where it came. */
    sim_engine_event(e, EVENT_BARRIER, 0);
    barrier_fences(e);
    /* psc (seq_cst.c) needs no node for this barrier: every event happens
     * before or after it, so coherence alone forbids each cycle through it. */
    sim_engine_after_event(e);
    sim_order_done(e, &e->state.barriers, true);
}
