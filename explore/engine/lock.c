/*
 * lock.c -- the locks and sleeping words that a port uses: lock ranks, and
 * deadlocks.
 *
 * A thread that wants a held lock is not ready. When no thread is ready, the
 * engine checks which thread waits for which. Locks must be taken in ascending
 * rank; a violation is reported in any run that shows it, whether or not that
 * run deadlocks.
 */
#include "explore/engine/engine.h"

enum event_kind {
    EVENT_LOCK = 8,
    EVENT_TRY_FAILED,
    EVENT_UNLOCK,
    EVENT_WAIT,
    EVENT_WAKE,
    EVENT_WOKEN
};

static struct lock *
lock_of(struct engine *e, const void *address, uintptr_t site)
{
    struct lock *l;

    for (uint32_t i = 0; i < e->state.locks_count; i++) {
        if (e->locks[i].address == address)
            return &e->locks[i];
    }
    if (e->state.locks_count == LOCKS_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the threads use too many locks");
    l = &e->locks[e->state.locks_count++];
    *l = (struct lock){.address = address, .holder = SIM_THREADS_MAX};
    return l;
}

/* The scheduling point before an operation. */
static struct lock *
reach(struct engine *e, const void *address, uintptr_t site)
{
    sim_engine_point(e, site);
    return lock_of(e, address, site);
}

static void
check_rank(struct engine *e, const struct lock *wanted, uintptr_t site)
{
    for (uint32_t i = 0; i < e->state.locks_count; i++) {
        const struct lock *l = &e->locks[i];

        if (l->holder != e->current)
            continue;
        if (l == wanted)
            sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, l->site,
                              "a thread takes a lock that it holds");
        if (wanted->rank != 0 && l->rank >= wanted->rank)
            sim_engine_refuse(
                e, SIM_FAIL_LOCK_RANK, site, l->site,
                "a lock is taken under one of the same or a higher rank");
    }
}

static void
trace_lock(struct engine *e, enum sim_op op, const struct lock *l, bool ok,
           uintptr_t site)
{
    struct trace_event *event = sim_trace_add(e, op, site);

    if (event != NULL) {
        event->address = (uintptr_t)l->address;
        event->ok = ok;
    }
}

static bool
is_free(void *context)
{
    const struct lock *l = context;

    return l->holder == SIM_THREADS_MAX;
}

/* Who wants the lock is no longer ready: a thread that runs only to find it
 * taken comes to a second scheduling point in the same state, where the search
 * by schedules would cut the run. */
static void
take(struct engine *e, struct lock *l, uintptr_t site)
{
    trace_lock(e, SIM_OP_LOCK, l, true, site);
    sim_engine_event(e, EVENT_LOCK, l->version++);
    l->holder = e->current;
    l->site = site;
    sim_clock_join(&sim_self(e)->run.now, &l->sync);
    sim_seq_cst_sync(e);
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.wants == l && i != e->current)
            e->ready &= ~(1U << i);
    }
    sim_engine_after_event(e);
    sim_order_done(e, &l->order, true);
}

void
sim_lock_take(struct engine *e, const void *lock, uint32_t rank, uintptr_t site)
{
    struct lock *const outer = sim_self(e)->run.wants; /* outside a handler */
    struct lock *l;

    if (!e->active)
        return;
    sim_engine_settle(e);
    l = lock_of(e, lock, site);
    l->rank = rank;
    check_rank(e, l, site);
    sim_self(e)->run.wants = l;
    if (l->holder == SIM_THREADS_MAX)
        sim_engine_point(e, site);
    while (l->holder != SIM_THREADS_MAX) /* held, or taken meanwhile */
        sim_engine_block(e, site);
    sim_self(e)->run.wants = outer;
    sim_order_ask(e, &l->order, false, is_free, l);
    take(e, l, site);
}

bool
sim_lock_try(struct engine *e, const void *lock, uint32_t rank, uintptr_t site)
{
    struct lock *l;

    if (!e->active)
        return true;
    l = reach(e, lock, site);
    l->rank = rank;
    sim_order_ask(e, &l->order, false, NULL, NULL);
    if (l->holder == SIM_THREADS_MAX) {
        take(e, l, site);
        return true;
    }
    trace_lock(e, SIM_OP_LOCK, l, false, site);
    sim_engine_event(e, EVENT_TRY_FAILED, l->version);
    sim_engine_after_event(e);
    sim_order_done(e, &l->order, false);
    return false;
}

void
sim_lock_release(struct engine *e, const void *lock, uintptr_t site)
{
    struct lock *l;

    if (!e->active)
        return;
    l = reach(e, lock, site);
    sim_order_ask(e, &l->order, false, NULL, NULL);
    if (l->holder != e->current)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, 0,
                          "a thread gives back a lock that it does not hold");
    trace_lock(e, SIM_OP_UNLOCK, l, true, site);
    sim_engine_event(e, EVENT_UNLOCK, l->version++);
    l->holder = SIM_THREADS_MAX;
    l->sync = sim_self(e)->run.now;
    sim_seq_cst_sync(e);
    sim_self(e)->run.requested.shuts = true; /* it was held until now */
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.wants == l)
            e->ready |= 1U << i;
    }
    sim_engine_after_event(e);
    sim_order_done(e, &l->order, true);
}

/* Free a lock in the child of a fork, whose only thread knows what the holder
 * knew. */
void
sim_lock_reset(struct engine *e, const void *lock, uintptr_t site)
{
    if (!e->active)
        return;
    lock_of(e, lock, site)->holder = e->current;
    sim_lock_release(e, lock, site);
}

static bool
wakes_spuriously(struct engine *e)
{
    if (!sim_engine_spurious(e))
        return false;
    sim_engine_event(e, EVENT_WOKEN, 1);
    return true;
}

/*
 * Sleepers belong to the word's object. A thread that waits on the word after a
 * wake-up sees what was written before that wake-up, because the system takes
 * one lock for both.
 */
void
sim_lock_wait(struct engine *e, const uint32_t *word, uint32_t seen,
              uintptr_t site)
{
    struct lock *l;
    bool sleeps;

    if (!e->active)
        return;
    l = reach(e, word, site);
    sim_shard_sleeps(e);
    sim_order_ask(e, &l->order, true, NULL, NULL);
    sleeps = sim_memory_system_read(e, (uintptr_t)word, sizeof *word, &l->sync,
                                    site) == seen;
    trace_lock(e, SIM_OP_WAIT, l, sleeps, site);
    sim_engine_event(e, EVENT_WAIT, l->version);
    if (!sleeps || wakes_spuriously(e)) {
        sim_order_done(e, &l->order, false);
        return;
    }
    sim_self(e)->run.sleeps_on = l;
    e->ready &= ~(1U << e->current);
    sim_order_done(e, &l->order, false);
    sim_engine_yield(e, site);
    /* Waking up is an event of its own: two scheduling points without an event
     * between them would have the same state, and the second would be cut. */
    sim_engine_event(e, EVENT_WOKEN, 0);
}

static void
wake(struct engine *e, uint32_t thread)
{
    struct thread *t = &e->threads[thread];

    sim_clock_join(&t->run.causal, &sim_self(e)->run.causal);
    t->run.sleeps_on = NULL;
    e->ready |= 1U << thread;
}

/* Wake sleepers, by choice. in: most, the number to wake */
void
sim_lock_wake(struct engine *e, const uint32_t *word, uint32_t most,
              uintptr_t site)
{
    uint32_t sleepers[SIM_THREADS_MAX];
    uint32_t count = 0;
    uint32_t woken = 0;
    struct lock *l;

    if (!e->active)
        return;
    l = reach(e, word, site);
    sim_order_ask(e, &l->order, false, NULL, NULL);
    trace_lock(e, SIM_OP_WAKE, l, true, site);
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.sleeps_on == l)
            sleepers[count++] = i;
    }
    for (; count > 0 && most > 0; most--) {
        const uint32_t picked =
            most >= count
                ? 0
                : sim_engine_ask(e, count, SIM_SCHED, (uint16_t)e->current);

        woken |= 1U << sleepers[picked];
        sleepers[picked] = sleepers[--count];
    }
    sim_engine_event(e, EVENT_WAKE, l->version++ | (uint64_t)woken << 32);
    sim_clock_join(&l->sync, &sim_self(e)->run.now);
    sim_order_record(e, &l->order, sim_self(e)->run.requested, true);
    for (; woken != 0; woken &= woken - 1)
        wake(e, (uint32_t)__builtin_ctz(woken));
    sim_order_offer(e, &l->order, true);
}

#define HERE ((uintptr_t)__builtin_return_address(0))

void
sim_explore_lock(const void *lock, uint32_t rank)
{
    struct engine *e = &sim_engine;

    sim_lock_take(e, lock, rank, HERE);
}

bool
sim_explore_trylock(const void *lock, uint32_t rank)
{
    struct engine *e = &sim_engine;

    return sim_lock_try(e, lock, rank, HERE);
}

void
sim_explore_unlock(const void *lock)
{
    struct engine *e = &sim_engine;

    sim_lock_release(e, lock, HERE);
}

void
sim_explore_wait(const uint32_t *word, uint32_t seen)
{
    struct engine *e = &sim_engine;

    sim_lock_wait(e, word, seen, HERE);
}

void
sim_explore_wake(const uint32_t *word)
{
    struct engine *e = &sim_engine;

    sim_lock_wake(e, word, UINT32_MAX, HERE);
}

void
sim_explore_wake_one(const uint32_t *word)
{
    struct engine *e = &sim_engine;

    sim_lock_wake(e, word, 1, HERE);
}
