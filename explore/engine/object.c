/* object.c -- see object.h. */
#include "explore/engine/object.h"

#include <stdlib.h>

#include "explore/engine/need.h"

enum {
    OBJECTS_MAX = 256,
    EVENT_OBJECT = 24,
    EVENT_SPURIOUS = 26,
    EVENT_GONE_ON,
    EVENT_LATE
};

void
sim_object_reset(struct engine *e)
{
    if (e->objects == NULL)
        e->objects = sim_need(calloc(OBJECTS_MAX, sizeof *e->objects));
    e->objects_count = 0;
}

struct object *
sim_object_at(struct engine *e, const void *address, uintptr_t site)
{
    for (uint32_t i = 0; i < e->objects_count; i++) {
        if (e->objects[i].address == address)
            return &e->objects[i];
    }
    if (e->objects_count == OBJECTS_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the program uses too many locks");
    e->objects[e->objects_count] =
        (struct object){.address = address, .holder = SIM_THREADS_MAX};
    return &e->objects[e->objects_count++];
}

static void
check_usable(struct engine *e, const struct object *o, uintptr_t site)
{
    if (o->destroyed)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, 0,
                          "used after it was destroyed");
}

struct object *
sim_object_used(struct engine *e, const volatile void *address, uintptr_t site)
{
    struct object *o;

    /* An access, so that a race with freeing its memory is detected. */
    sim_plain_access(e, (uintptr_t)address, 1, false, site);
    o = sim_object_at(e, (const void *)(uintptr_t)address, site);
    check_usable(e, o, site);
    return o;
}

bool
sim_object_is_new(struct object *o)
{
    const bool was = o->known;

    o->known = true;
    return !was;
}

uint64_t
sim_object_held(struct engine *e)
{
    const uint32_t thread = e->current;
    uint64_t hash = 0;

    for (uint32_t i = 0; i < e->objects_count; i++) {
        const struct object *o = &e->objects[i];
        const uint64_t times = o->holder == thread
                                   ? 1 + (uint64_t)o->count
                                   : (uint64_t)o->held[thread] << 32;

        if (times != 0)
            hash ^=
                sim_hash_step(sim_hash_step(0, (uintptr_t)o->address), times);
    }
    return hash;
}

/* ---- Waiting ---- */

void
sim_object_point(struct engine *e, struct object *o, bool looks, uintptr_t site)
{
    sim_engine_point(e, site);
    sim_order_ask(e, &o->order, looks, NULL, NULL);
    check_usable(e, o, site);
}

void
sim_object_done(struct engine *e, struct object *o, bool changed)
{
    sim_order_done(e, &o->order, changed);
}

static bool
admits_lock(void *context)
{
    return sim_object_admits(context, SIM_NEED_LOCK);
}

static bool
admits_read(void *context)
{
    return sim_object_admits(context, SIM_NEED_READ);
}

static bool
admits_count(void *context)
{
    return sim_object_admits(context, SIM_NEED_COUNT);
}

/* The object admits the thread: choose whether it continues now or later. */
static void
ask_admitted(struct engine *e, struct object *o, enum sim_need need,
             uintptr_t site)
{
    static sim_can_take *const can_take[] = {[SIM_NEED_LOCK] = admits_lock,
                                             [SIM_NEED_READ] = admits_read,
                                             [SIM_NEED_COUNT] = admits_count};

    o->users |= 1U << e->current;
    if (__builtin_popcount(o->users) > 2)
        sim_reduce_refuse(
            e); /* reduction would take more runs than schedules */
    sim_order_ask(e, &o->order, need == SIM_NEED_READ, can_take[need], o);
    check_usable(e, o, site);
}

/* A time-out depends on all threads, so the search cannot be reduced. */
static void
refuse_limit(struct engine *e, enum sim_limit limit)
{
    if (limit != SIM_UNLIMITED)
        sim_reduce_refuse(e);
}

/* May the thread's wait time out at any moment? */
static bool
is_impatient(const struct thread *t, enum sim_limit limit)
{
    return limit == SIM_PASSED ||
           (limit == SIM_LIMITED && t->run.timeouts_left > 0);
}

/* Early time-outs are counted, so that a loop around the wait ends. */
static void
give_up(struct thread *t, enum sim_limit limit)
{
    if (limit == SIM_LIMITED && t->run.timeouts_left > 0)
        t->run.timeouts_left--;
}

/* The thread's wait may time out early, unless an earlier wait did. */
static void
note_bound(struct engine *e, enum sim_limit limit)
{
    if (limit == SIM_LIMITED && e->unfinished > 1)
        e->run->bounded = true;
}

bool
sim_object_wait(struct engine *e, struct object *o, enum sim_need need,
                enum sim_limit limit, uintptr_t site)
{
    struct thread *t = sim_self(e);
    bool in_time;

    refuse_limit(e, limit);
    sim_engine_settle(e);
    if (is_impatient(t, limit)) {
        sim_engine_point(e, site);
        check_usable(e, o, site);
        in_time = sim_object_admits(o, need);
        if (!in_time)
            give_up(t, limit);
        return in_time;
    }
    note_bound(e, limit);
    t->run.waits_on = o;
    t->run.need = (uint8_t)need;
    t->run.timed = limit != SIM_UNLIMITED;
    t->run.timed_out = false;
    if (sim_object_admits(o, need))
        sim_engine_point(e, site);
    else
        sim_engine_block(e, site);
    t->run.waits_on = NULL;
    t->run.timed = false;
    in_time = !t->run.timed_out;
    ask_admitted(e, o, need, site);
    return in_time;
}

/* A sleeper that may time out at any moment wants the lock right away. */
bool
sim_object_sleep(struct engine *e, struct object *o, bool changed,
                 struct object *lock, enum sim_limit limit, uintptr_t site)
{
    struct thread *t = sim_self(e);
    const bool impatient = is_impatient(t, limit);
    bool woken;

    refuse_limit(e, limit);
    sim_shard_sleeps(e);
    if (!impatient)
        note_bound(e, limit);
    t->run.sleeps_for = o;
    t->run.relock = lock;
    t->run.timed = limit != SIM_UNLIMITED;
    t->run.timed_out = false;
    if (impatient) {
        t->run.waits_on = lock;
        t->run.need = SIM_NEED_LOCK;
    }
    if (!impatient || lock != NULL)
        e->ready &= ~(1U << e->current);
    if (impatient && lock != NULL)
        sim_object_settle(e, lock);
    sim_order_offer(e, &o->order, changed);
    if (lock != NULL)
        sim_order_offer(e, &lock->order, true);
    sim_engine_yield(e, site);
    woken = t->run.sleeps_for == NULL;
    if (!woken)
        give_up(t, limit);
    t->run.sleeps_for = NULL;
    t->run.waits_on = NULL;
    t->run.timed = false;
    if (lock != NULL)
        ask_admitted(e, lock, SIM_NEED_LOCK, site);
    return woken;
}

static void
wake_thread(struct engine *e, uint32_t i, bool reports)
{
    struct thread *t = &e->threads[i];

    if (reports) {
        sim_clock_join(&t->run.now, &sim_self(e)->run.now);
        sim_seq_cst_sync_of(e, i);
    }
    sim_clock_join(&t->run.causal, &sim_self(e)->run.causal);
    t->run.sleeps_for = NULL;
    t->run.waits_on = t->run.relock;
    t->run.need = SIM_NEED_LOCK;
    t->run.timed = false;
    if (t->run.relock != NULL)
        sim_object_settle(e, t->run.relock);
    else
        e->ready |= 1U << i;
}

/*
 * A sleeper whose time is over cannot be woken, though it has not gone on yet,
 * because it wants its lock. If its time may end at any moment, choose.
 */
static bool
has_timed_out(struct engine *e, uint32_t i)
{
    struct thread *t = &e->threads[i];

    if (!t->run.timed_out && t->run.timed && t->run.waits_on != NULL &&
        sim_engine_ask(e, 2, SIM_SCHED, (uint16_t)e->current) == 1) {
        t->run.timed_out = true;
        sim_engine_hash(e, (uint64_t)EVENT_LATE << 40, i, true);
    }
    return t->run.timed_out;
}

uint32_t
sim_object_wake(struct engine *e, struct object *o, uint32_t most, bool reports)
{
    uint32_t sleepers[SIM_THREADS_MAX];
    uint32_t count = 0;
    uint32_t woken = 0;

    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.sleeps_for == o && !has_timed_out(e, i))
            sleepers[count++] = i;
    }
    if (reports && count > 0)
        sim_seq_cst_sync(e);
    for (const bool all = most >= count; woken < most && count > 0; woken++) {
        const uint32_t picked =
            all ? 0 : sim_engine_ask(e, count, SIM_SCHED, (uint16_t)e->current);
        const uint32_t thread = sleepers[picked];

        wake_thread(e, thread, reports);
        sim_engine_hash(e, (uint64_t)EVENT_OBJECT << 40 | o->version, thread,
                        true);
        sleepers[picked] = sleepers[--count];
    }
    return woken;
}

bool
sim_object_spurious(struct engine *e)
{
    if (!sim_engine_spurious(e))
        return false;
    sim_engine_event(e, EVENT_SPURIOUS, 0);
    return true;
}

/* ---- Operations ---- */

void
sim_object_changed(struct engine *e)
{
    e->state.object_clock++;
    sim_self(e)->run.object_own++;
}

static void
trace(struct engine *e, const struct object *o, const char *what, bool ok,
      uintptr_t site)
{
    struct trace_event *event = sim_trace_add(e, SIM_OP_CALL, site);

    if (event == NULL)
        return;
    event->what = what;
    event->address = (uintptr_t)o->address;
    event->ok = ok;
}

void
sim_object_gone_on(struct engine *e, const struct object *o, const char *what,
                   bool woken, uintptr_t site)
{
    trace(e, o, what, true, site);
    sim_engine_event(e, EVENT_GONE_ON, woken);
}

/*
 * The thread reads an object. Changes of objects before the round's first such
 * read are not new to it, even those made after the round had begun.
 */
static void
look(struct engine *e)
{
    struct thread *t = sim_self(e);

    for (uint32_t i = t->run.states_count; i-- > 0;) {
        if (t->states[i].looks != t->run.object_looks)
            break;
        t->states[i].seen = sim_object_changes(e, t);
    }
    t->run.object_looks++;
}

/* A try has failed, so its thread knows that others hold the lock now. */
static void
notice_holders(struct engine *e, const struct object *o)
{
    for (uint32_t i = 0; i < e->threads_count; i++)
        e->threads[i].run.turns += o->holder == i || o->held[i] > 0;
}

void
sim_object_event(struct engine *e, struct object *o, const char *what, bool ok,
                 bool orders, uintptr_t site)
{
    if (!ok)
        notice_holders(e, o);
    trace(e, o, what, ok, site);
    sim_engine_event(e, EVENT_OBJECT, o->version | (uint64_t)ok << 32);
    o->version += orders;
    look(e);
    if (orders)
        sim_object_changed(e);
}

void
sim_object_init(struct engine *e, struct object *o, uintptr_t site)
{
    sim_engine_point(e, site);
    sim_order_ask(e, &o->order, false, NULL, NULL);
    o->destroyed = false;
    sim_object_event(e, o, "initialise", true, true, site);
    sim_object_done(e, o, true);
}

void
sim_object_destroy(struct engine *e, struct object *o, uintptr_t site)
{
    sim_object_point(e, o, false, site);
    if (o->holder != SIM_THREADS_MAX || o->readers != 0)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a lock is destroyed while it is held");
    o->destroyed = true;
    sim_object_event(e, o, "destroy", true, true, site);
    sim_object_done(e, o, true);
}

void
sim_object_take(struct engine *e, struct object *o, uintptr_t site)
{
    o->holder = e->current;
    o->site = site;
    sim_clock_join(&sim_self(e)->run.now, &o->sync);
    sim_clock_join(&sim_self(e)->run.now, &o->read);
    sim_seq_cst_sync(e);
    sim_object_settle(e, o);
}

void
sim_object_give(struct engine *e, struct object *o, uintptr_t site)
{
    (void)site;
    sim_self(e)->run.requested.shuts = true; /* it was held until now */
    o->holder = SIM_THREADS_MAX;
    o->sync = sim_self(e)->run.now;
    sim_seq_cst_sync(e);
    sim_object_settle(e, o);
}
