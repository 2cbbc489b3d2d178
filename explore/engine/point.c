/*
 * point.c -- scheduling points: which thread runs next.
 *
 * Each event is preceded by a scheduling point; threads are switched nowhere
 * else. The question at that point is which of the ready threads runs. The
 * answers are the current thread, then the others by number, so answer 0
 * continues without a switch.
 * Example: threads 0, 1 and 2 are ready, 1 is current. Answer 0 is thread 1,
 * answer 1 is thread 0, answer 2 is thread 2. If thread 1 is blocked, answer 0
 * is thread 0. Who answers is a strategy (search/strategy.h).
 */
#include "explore/engine/engine.h"
#include "explore/search/futile.h"
#include "explore/search/strategy.h"

#include <stdlib.h>

enum { EVENT_SIGNAL = 17 };

/* Has another thread done something to a lock since i's round read one? */
static bool
objects_changed(struct engine *e, uint32_t i)
{
    const struct thread *t = &e->threads[i];

    return t->run.object_seen != 0 &&
           t->run.object_seen != sim_object_changes(e, t);
}

/* Wake threads that sleep in a wait loop if what they read has changed. */
static __attribute__((noinline)) void
wake_spinners(struct engine *e)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        struct thread *t = &e->threads[i];

        if (t->run.spinning &&
            (sim_wait_change(e, i) != NULL || objects_changed(e, i))) {
            t->run.spinning = false;
            e->state.spinners--;
            e->ready |= 1U << i;
        }
    }
}

/* The ready thread number `picked`: the current one is 0, others by number. */
static uint32_t
nth_ready(struct engine *e, bool can_continue, uint32_t picked)
{
    uint32_t rest = e->ready;

    if (can_continue) {
        if (picked == 0)
            return e->current;
        picked--;
        rest &= ~(1U << e->current);
    }
    while (picked-- > 0)
        rest &= rest - 1;
    return (uint32_t)__builtin_ctz(rest);
}

/* Does the thread wait in a loop? */
static bool
is_waiting(struct engine *e, uint32_t i)
{
    return e->threads[i].run.dropped || e->threads[i].run.spinning;
}

/* No thread can run, but not all have finished. */
_Noreturn static void
stuck(struct engine *e)
{
    sim_answer_stuck(e);
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (is_waiting(e, i) && objects_changed(e, i))
            sim_engine_stop(e, SIM_END_BLOCKED); /* the waiter can continue */
    }
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (!is_waiting(e, i))
            continue;
        e->current = i;
        sim_engine_refuse(e, SIM_FAIL_LIVELOCK, e->threads[i].run.next_site, 0,
                          "a thread waits in a loop for what nobody will do");
    }
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];

        if (t->run.finished)
            continue;
        e->current = i;
        if (t->run.sleeps_on != NULL)
            sim_engine_refuse(e, SIM_FAIL_DEADLOCK, t->run.next_site, 0,
                              "a thread sleeps and nobody will wake it");
        if (t->run.wants != NULL)
            sim_engine_refuse(e, SIM_FAIL_DEADLOCK, t->run.next_site,
                              t->run.wants->site,
                              "every unfinished thread waits for a lock");
        sim_engine_refuse(e, SIM_FAIL_DEADLOCK, t->run.next_site, 0,
                          "every unfinished thread waits");
    }
    abort(); /* pick() is not called when all threads have finished */
}

static uint32_t
bits(uint32_t set)
{
    uint32_t count = 0;

    for (; set != 0; set &= set - 1)
        count++;
    return count;
}

/* No thread is ready: pick one to go round its loop once more, or end the
 * run. */
static __attribute__((noinline)) uint32_t
pick_waiting(struct engine *e)
{
    const uint32_t released = sim_futile_release(e);
    const uint32_t waiting =
        released != SIM_THREADS_MAX ? released : sim_wait_last_round(e);

    if (waiting == SIM_THREADS_MAX)
        stuck(e);
    return waiting;
}

/* Pick the next thread. Ends the run if it is cut or no thread can run. */
static uint32_t
pick(struct engine *e, bool can_continue)
{
    const struct sim_strategy_part *strategy = e->strategy;
    uint32_t count;
    uint32_t picked;

    if (strategy->must_run != NULL &&
        (picked = strategy->must_run(e, can_continue)) < SIM_THREADS_MAX)
        return picked;
    if (e->state.spinners > 0)
        wake_spinners(e);
    if (e->ready == 0 && !sim_object_time_out(e))
        return pick_waiting(e);
    if (strategy->seen != NULL)
        strategy->seen(e, can_continue);
    if ((e->ready & (e->ready - 1)) == 0)
        return (uint32_t)__builtin_ctz(e->ready);
    count = bits(e->ready);
    if (e->options.bounded && can_continue && e->preemptions_left == 0)
        return e->current;
    picked = strategy->answer(e, can_continue, count);
    if (picked != 0 && can_continue) {
        e->run->switches++;
        e->preemptions_left--;
    }
    return nth_ready(e, can_continue, picked);
}

/* The first scheduling question of a run, asked on some thread's stack. */
void
sim_engine_first_pick(struct engine *e)
{
    if (!e->state.first)
        return;
    e->state.first = false;
    sim_engine_go(e, pick(e, false));
}

/* At a thread's first event, let the other threads reach theirs. */
static void
start_over(struct engine *e)
{
    sim_fiber_switch(&sim_self(e)->fiber, sim_self(e)->run.starter);
    sim_engine_first_pick(e);
}

/* Run thread i up to its first event: no thread can see the order. */
void
sim_engine_start(struct engine *e, uint32_t i)
{
    struct thread *t = &e->threads[i];
    struct sim_fiber *from = t->run.starter;
    const uint32_t starter = e->current;
    const bool starting = e->state.starting;

    e->state.starting = true;
    e->current = i;
    sim_fiber_switch(from, &t->fiber);
    e->state.starting = starting;
    e->current = starter;
    e->unfinished -= t->run.finished;
}

void
sim_engine_signal_point(struct engine *e)
{
    struct thread *t = sim_self(e);
    const bool is_barrier = t->run.is_barrier;

    if (t->run.signals_left == 0 ||
        sim_engine_ask(e, 2, SIM_FAULT, (uint16_t)e->current) == 0)
        return;
    t->run.signals_left--;
    /* Part of the state: between which plain accesses it struck. */
    t->run.is_barrier = false;
    sim_engine_event(e, EVENT_SIGNAL, t->run.plain_count);
    e->kernel->threads[e->current].signal(e->kernel->context, e->current);
    t->run.is_barrier = is_barrier;
}

void
sim_engine_point(struct engine *e, uintptr_t site)
{
    struct thread *t = sim_self(e);

    if (t->run.probing)
        sim_wait_leave(e);
    sim_engine_settle(e);
    if (++e->run->steps > e->steps_max)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the run has too many steps (does a wait loop "
                          "lack its sim_explore_spin_wait?)");
    t->steps++;
    if ((++e->all_steps & 255) == 0)
        sim_engine_look_at_clock(e);
    if (e->strategy->step != NULL)
        e->strategy->step(e);
    if (t->run.signals_left != 0) {
        sim_engine_signal_point(e);
        sim_engine_settle(e); /* offer what the handler has done */
    }
    t->run.next_site = site;
    if (e->state.starting)
        start_over(e);
    else
        sim_engine_go(e, pick(e, (e->ready >> e->current & 1) != 0));
    t->run.last_site = site;
    t->run.has_turn = false;
    if (e->turns)
        e->graphs->ask_turn(e);
}

/* The current thread cannot run until another one makes it ready. */
void
sim_engine_block(struct engine *e, uintptr_t site)
{
    if (sim_self(e)->run.probing)
        sim_wait_leave(e);
    sim_engine_settle(e);
    e->ready &= ~(1U << e->current);
    sim_engine_yield(e, site);
}

/* Switch to any ready thread, perhaps the current one. */
void
sim_engine_yield(struct engine *e, uintptr_t site)
{
    sim_engine_settle(e);
    sim_self(e)->run.next_site = site;
    if (e->state.starting)
        start_over(e);
    else
        sim_engine_go(e, pick(e, false));
    if (e->turns)
        e->graphs->ask_turn(e);
}

/* The last thread has ended. Another run may have come to the same graph. */
_Noreturn void
sim_engine_complete(struct engine *e)
{
    if (e->visited != NULL && !e->state.detour &&
        sim_visited_insert(e->visited, e->graph)) {
        e->state.cut = true;
        sim_engine_stop(e, SIM_END_PRUNED);
    }
    sim_engine_stop(e, SIM_END_COMPLETE);
}

/* The current thread's body has returned. */
_Noreturn void
sim_engine_thread_end(struct engine *e)
{
    if (sim_self(e)->run.probing)
        sim_wait_leave(e);
    sim_engine_settle(e);
    e->threads[e->current].run.finished = true;
    e->ready &= ~(1U << e->current);
    if (e->state.starting)
        sim_fiber_switch(&sim_self(e)->fiber, sim_self(e)->run.starter);
    if (--e->unfinished == 0)
        sim_engine_complete(e);
    sim_engine_go(e, pick(e, false));
    abort(); /* a finished thread is never ready */
}
