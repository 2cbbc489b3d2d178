/*
 * point.c -- scheduling points: which thread runs next.
 *
 * Each event is preceded by a scheduling point; threads are switched nowhere
 * else. The question at that point is which of the ready threads runs. The
 * answers are the current thread, then the others by number, so answer 0
 * continues without a switch.
 *
 * Pruning: when a run reaches a point with answers that are new, the engine
 * looks up the hash of the state. If another run was in the same state, it has
 * explored everything beyond, and this run ends. The state consists of the
 * execution graph so far (including seq_cst fences, locks, marks and the
 * kernel's own choices), the set of started threads and, with a preemption
 * bound, the current thread and the preemptions left.
 */
#include "engine.h"
#include "futile.h"

#include <stdlib.h>

enum { EVENT_SIGNAL = 17 };

/* Have all answers carried over from the previous run been used? */
static bool
fresh(const struct sim_choices *choices)
{
    return choices->count >= choices->fixed_count;
}

static __attribute__((noinline)) void
prune(bool can_continue)
{
    struct engine *e = &sim_engine;
    uint64_t key[2] = {e->graph[0], e->graph[1]};

    if (e->options.bounded)
        key[0] ^= sim_mix64(e->preemptions_left | (uint64_t)e->current << 32 |
                            (uint64_t)can_continue << 40);
    if (!sim_visited_insert(e->visited, key))
        return;
    e->cut = sim_mix64(key[1]) % 100 >= e->recheck_of_100;
    if (e->cut)
        sim_engine_stop(SIM_END_PRUNED);
    e->detour = true;
    e->detour_rng.state = key[0];
}

/* Has another thread done something to a lock since i's round read one? */
static bool
objects_changed(uint32_t i)
{
    const struct thread *t = &sim_engine.threads[i];

    return t->object_seen != 0 && t->object_seen != sim_object_changes(t);
}

/* Wake threads that sleep in a wait loop if what they read has changed. */
static __attribute__((noinline)) void
wake_spinners(void)
{
    struct engine *e = &sim_engine;

    for (uint32_t i = 0; i < e->threads_count; i++) {
        struct thread *t = &e->threads[i];

        if (t->spinning && (sim_wait_change(i) != NULL || objects_changed(i))) {
            t->spinning = false;
            e->spinners--;
            e->ready |= 1U << i;
        }
    }
}

static __attribute__((noinline)) uint32_t
ask_guided(bool can_continue, uint32_t count, uint16_t label)
{
    struct engine *e = &sim_engine;
    uint8_t order[SIM_THREADS_MAX];
    uint32_t n = 0;

    if (can_continue)
        order[n++] = (uint8_t)e->current;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if ((e->ready >> i & 1) != 0 && !(can_continue && i == e->current))
            order[n++] = (uint8_t)i;
    }
    return sim_choose_guided(e->choices, count, SIM_SCHED, label,
                             sim_sched_wish(order, count));
}

static uint32_t
ask_schedule(bool can_continue, uint32_t count)
{
    struct engine *e = &sim_engine;
    const uint16_t label = (uint16_t)e->ready;

    if (e->detour)
        return sim_rng_below(&e->detour_rng, count);
    if (e->options.strategy == SIM_STRATEGY_RANDOM ||
        e->choices->backend == SIM_ODOMETER ||
        e->choices->backend == SIM_REPLAY)
        return sim_choose_carried(e->choices, count, SIM_SCHED, label);
    return ask_guided(can_continue, count, label);
}

/* The ready thread number `picked`: the current one is 0, others by number. */
static uint32_t
nth_ready(bool can_continue, uint32_t picked)
{
    const struct engine *e = &sim_engine;
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
is_waiting(uint32_t i)
{
    return sim_engine.threads[i].dropped || sim_engine.threads[i].spinning;
}

/* No thread can run, but not all have finished. */
_Noreturn static void
stuck(void)
{
    struct engine *e = &sim_engine;

    sim_answer_stuck();
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (is_waiting(i) && objects_changed(i))
            sim_engine_stop(SIM_END_BLOCKED); /* the waiter can continue */
    }
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (!is_waiting(i))
            continue;
        e->current = i;
        sim_engine_refuse(SIM_FAIL_LIVELOCK, e->threads[i].next_site, 0,
                          "a thread waits in a loop for what nobody will do");
    }
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];

        if (t->finished)
            continue;
        e->current = i;
        if (t->sleeps_on != NULL)
            sim_engine_refuse(SIM_FAIL_DEADLOCK, t->next_site, 0,
                              "a thread sleeps and nobody will wake it");
        if (t->wants != NULL)
            sim_engine_refuse(SIM_FAIL_DEADLOCK, t->next_site, t->wants->site,
                              "every unfinished thread waits for a lock");
        sim_engine_refuse(SIM_FAIL_DEADLOCK, t->next_site, 0,
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
pick_waiting(void)
{
    const uint32_t released = sim_futile_release();
    const uint32_t waiting =
        released != SIM_THREADS_MAX ? released : sim_wait_last_round();

    if (waiting == SIM_THREADS_MAX)
        stuck();
    return waiting;
}

/* Pick the next thread. Ends the run if it is cut or no thread can run. */
static uint32_t
pick(bool can_continue)
{
    struct engine *e = &sim_engine;
    uint32_t count;
    uint32_t picked;

    if (sim_script_runs)
        return sim_script_pick();
    if (e->reduced &&
        (picked = sim_reduce_pick(can_continue)) < SIM_THREADS_MAX)
        return picked;
    if (e->spinners > 0)
        wake_spinners();
    if (e->ready == 0 && !sim_object_time_out())
        return pick_waiting();
    if (e->visited != NULL && !e->detour && fresh(e->choices))
        prune(can_continue);
    if ((e->ready & (e->ready - 1)) == 0)
        return (uint32_t)__builtin_ctz(e->ready);
    count = bits(e->ready);
    if (e->options.bounded && can_continue && e->preemptions_left == 0)
        return e->current;
    picked = ask_schedule(can_continue, count);
    if (picked != 0 && can_continue) {
        e->run->switches++;
        e->preemptions_left--;
    }
    return nth_ready(can_continue, picked);
}

void
sim_engine_go(uint32_t next)
{
    struct engine *e = &sim_engine;
    struct sim_fiber *from = &sim_self()->fiber;

    if (next == e->current)
        return;
    e->current = next;
    sim_fiber_switch(from, &e->threads[next].fiber);
}

/* The first scheduling question of a run, asked on some thread's stack. */
void
sim_engine_first_pick(void)
{
    if (!sim_engine.first)
        return;
    sim_engine.first = false;
    sim_engine_go(pick(false));
}

/* At a thread's first event, let the other threads reach theirs. */
static void
start_over(void)
{
    sim_fiber_switch(&sim_self()->fiber, sim_self()->starter);
    sim_engine_first_pick();
}

/* Run thread i up to its first event: no thread can see the order. */
void
sim_engine_start(uint32_t i)
{
    struct engine *e = &sim_engine;
    struct thread *t = &e->threads[i];
    struct sim_fiber *from = t->starter;
    const uint32_t starter = e->current;
    const bool starting = e->starting;

    e->starting = true;
    e->current = i;
    sim_fiber_switch(from, &t->fiber);
    e->starting = starting;
    e->current = starter;
    e->unfinished -= t->finished;
}

void
sim_engine_signal_point(void)
{
    struct engine *e = &sim_engine;
    struct thread *t = sim_self();
    const bool is_barrier = t->is_barrier;

    if (t->signals_left == 0 ||
        sim_engine_ask(2, SIM_FAULT, (uint16_t)e->current) == 0)
        return;
    t->signals_left--;
    /* Part of the state: between which plain accesses it struck. */
    t->is_barrier = false;
    sim_engine_event(EVENT_SIGNAL, t->plain_count);
    e->kernel->threads[e->current].signal(e->kernel->context, e->current);
    t->is_barrier = is_barrier;
}

void
sim_engine_point(uintptr_t site)
{
    struct engine *e = &sim_engine;
    struct thread *t = sim_self();

    if (t->probing)
        sim_wait_leave();
    sim_engine_settle();
    if (++e->run->steps > e->steps_max)
        sim_engine_refuse(SIM_FAIL_LIMIT, site, 0,
                          "the run has too many steps (does a wait loop "
                          "lack its sim_explore_spin_wait?)");
    t->steps++;
    if (e->options.strategy != SIM_STRATEGY_RANDOM)
        sim_sched_step();
    if (t->signals_left != 0) {
        sim_engine_signal_point();
        sim_engine_settle(); /* offer what the handler has done */
    }
    t->next_site = site;
    if (e->starting)
        start_over();
    else
        sim_engine_go(pick((e->ready >> e->current & 1) != 0));
    t->last_site = site;
    t->has_turn = false;
    if (e->turns)
        sim_turn_ask();
}

/* The current thread cannot run until another one makes it ready. */
void
sim_engine_block(uintptr_t site)
{
    struct engine *e = &sim_engine;

    if (sim_self()->probing)
        sim_wait_leave();
    sim_engine_settle();
    e->ready &= ~(1U << e->current);
    sim_engine_yield(site);
}

/* Switch to any ready thread, perhaps the current one. */
void
sim_engine_yield(uintptr_t site)
{
    sim_engine_settle();
    sim_self()->next_site = site;
    if (sim_engine.starting)
        start_over();
    else
        sim_engine_go(pick(false));
    if (sim_engine.turns)
        sim_turn_ask();
}

/* The last thread has ended. Another run may have come to the same graph. */
_Noreturn void
sim_engine_complete(void)
{
    struct engine *e = &sim_engine;

    if (e->visited != NULL && !e->detour &&
        sim_visited_insert(e->visited, e->graph)) {
        e->cut = true;
        sim_engine_stop(SIM_END_PRUNED);
    }
    sim_engine_stop(SIM_END_COMPLETE);
}

/* The current thread's body has returned. */
_Noreturn void
sim_engine_thread_end(void)
{
    struct engine *e = &sim_engine;

    if (sim_self()->probing)
        sim_wait_leave();
    sim_engine_settle();
    e->threads[e->current].finished = true;
    e->ready &= ~(1U << e->current);
    if (e->starting)
        sim_fiber_switch(&sim_self()->fiber, sim_self()->starter);
    if (--e->unfinished == 0)
        sim_engine_complete();
    sim_engine_go(pick(false));
    abort(); /* a finished thread is never ready */
}
