/*
 * lock.c -- locks of the port, with ranks and deadlock detection.
 *
 * A thread that wants a held lock is not ready; when nobody is ready the
 * engine looks who waits for what. Ranks are taken upwards only: a violation
 * is reported in any run that shows it, whether or not it deadlocks there.
 */
#include "engine.h"

enum event_kind { EVENT_LOCK = 8, EVENT_TRY_FAILED, EVENT_UNLOCK };

static struct lock *
lock_of(const void *address, uint32_t rank, uintptr_t site)
{
    struct engine *e = &sim_engine;
    struct lock *l;

    for (uint32_t i = 0; i < e->locks_count; i++) {
        if (e->locks[i].address == address)
            return &e->locks[i];
    }
    if (e->locks_count == LOCKS_MAX)
        sim_refuse(SIM_FAIL_LIMIT, site, 0, "the threads use too many locks");
    l = &e->locks[e->locks_count++];
    *l = (struct lock){
        .address = address, .rank = rank, .holder = SIM_THREADS_MAX};
    return l;
}

static void
check_rank(const struct lock *wanted, uintptr_t site)
{
    struct engine *e = &sim_engine;

    for (uint32_t i = 0; i < e->locks_count; i++) {
        const struct lock *l = &e->locks[i];

        if (l->holder != e->current)
            continue;
        if (l == wanted)
            sim_refuse(SIM_FAIL_LOCK_MISUSE, site, l->site,
                       "a thread takes a lock that it holds");
        if (wanted->rank != 0 && l->rank >= wanted->rank)
            sim_refuse(
                SIM_FAIL_LOCK_RANK, site, l->site,
                "a lock is taken under one of the same or a higher rank");
    }
}

static void
trace_lock(enum sim_op op, const struct lock *l, bool ok, uintptr_t site)
{
    struct trace_event *event = sim_trace(op, site);

    if (event != NULL) {
        event->address = (uintptr_t)l->address;
        event->ok = ok;
    }
}

static void
take(struct lock *l, uintptr_t site)
{
    struct engine *e = &sim_engine;

    trace_lock(SIM_OP_LOCK, l, true, site);
    sim_event(EVENT_LOCK, l->version++);
    l->holder = e->current;
    l->site = site;
    sim_clock_join(&sim_self()->now, &l->sync);
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].wants == l && i != e->current)
            e->ready &= ~(1U << i);
    }
    sim_after_event();
}

void
sim_explore_lock(const void *lock, uint32_t rank)
{
    const uintptr_t site = (uintptr_t)__builtin_return_address(0);
    struct lock *l;

    if (!sim_engine.active)
        return;
    l = lock_of(lock, rank, site);
    check_rank(l, site);
    l->site = l->holder == SIM_THREADS_MAX ? site : l->site;
    sim_self()->wants = l;
    if (l->holder == SIM_THREADS_MAX)
        sim_point(site);
    else
        sim_block(site);
    sim_self()->wants = NULL;
    take(l, site);
}

bool
sim_explore_trylock(const void *lock, uint32_t rank)
{
    const uintptr_t site = (uintptr_t)__builtin_return_address(0);
    struct lock *l;

    if (!sim_engine.active)
        return true;
    sim_point(site);
    l = lock_of(lock, rank, site);
    if (l->holder == SIM_THREADS_MAX) {
        take(l, site);
        return true;
    }
    trace_lock(SIM_OP_LOCK, l, false, site);
    sim_event(EVENT_TRY_FAILED, l->version);
    sim_after_event();
    return false;
}

void
sim_explore_unlock(const void *lock)
{
    const uintptr_t site = (uintptr_t)__builtin_return_address(0);
    struct engine *e = &sim_engine;
    struct lock *l;

    if (!e->active)
        return;
    sim_point(site);
    l = lock_of(lock, 0, site);
    if (l->holder != e->current)
        sim_refuse(SIM_FAIL_LOCK_MISUSE, site, 0,
                   "a thread gives back a lock that it does not hold");
    trace_lock(SIM_OP_UNLOCK, l, true, site);
    sim_event(EVENT_UNLOCK, l->version++);
    l->holder = SIM_THREADS_MAX;
    l->sync = sim_self()->now;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].wants == l)
            e->ready |= 1U << i;
    }
    sim_after_event();
}
