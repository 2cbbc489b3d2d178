/* wait.c -- condition variables, barriers and semaphores of a program. */
#include "explore/runtime/program.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#include "explore/runtime/explored.h"
#include "explore/runtime/shims.h"

/* ---- Condition variables ---- */

static const char *
end_text(bool woken, bool spurious)
{
    if (woken)
        return "woken, lock";
    return spurious ? "woken for no reason, lock" : "timed out, lock";
}

/* As in glibc, a wait gives the mutex back once, so that a recursive mutex that
 * was taken more often stays held. */
int
sim_cond_wait(struct engine *e, pthread_cond_t *c, pthread_mutex_t *m,
              const struct timespec *until, uintptr_t site)
{
    struct object *cond = sim_object_used(e, c, site);
    struct object *lock = sim_object_used(e, m, site);
    const bool gives = lock->count == 1;
    struct requested requested;
    bool spurious;
    bool woken;

    if (lock->holder != e->current)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, lock->site,
                          "a thread waits without the lock of the condition");
    sim_object_point(e, cond, true, site);
    requested = sim_self(e)->run.requested;
    if (gives)
        sim_order_ask(e, &lock->order, false, NULL, NULL);
    sim_object_event(e, cond, until != NULL ? "timed wait" : "wait", true,
                     false, site);
    sim_object_changed(e);
    spurious = sim_object_spurious(e);
    if (gives) {
        lock->version++;
        sim_object_give(e, lock, site);
    }
    sim_order_record(e, &cond->order, requested, false);
    if (gives)
        sim_order_record(e, &lock->order, sim_self(e)->run.requested, true);
    woken = sim_object_sleep(e, cond, false, gives ? lock : NULL,
                             spurious ? SIM_PASSED : sim_clock_limit(e, until),
                             site);
    if (woken || spurious)
        sim_self(e)->run.turns++;
    if (gives) {
        sim_object_event(e, lock, end_text(woken, spurious), woken, true, site);
        sim_object_take(e, lock, site);
        lock->count = 1;
        sim_object_done(e, lock, true);
    } else {
        sim_object_gone_on(e, cond, sim_sleep_end(woken, spurious), woken,
                           site);
    }
    if (woken || spurious)
        return 0;
    sim_clock_reach(e, until);
    return ETIMEDOUT;
}

int
sim_cond_wake(struct engine *e, pthread_cond_t *c, bool all, bool reports,
              uintptr_t site)
{
    struct object *o = sim_object_used(e, c, site);

    sim_object_point(e, o, false, site);
    sim_object_event(e, o, all ? "broadcast" : "signal", true, true, site);
    sim_order_record(e, &o->order, sim_self(e)->run.requested, true);
    if (sim_object_wake(e, o, all ? UINT32_MAX : 1, reports) > 0)
        sim_self(e)->run.turns++;
    sim_order_offer(e, &o->order, true);
    return 0;
}

void
sim_cond_init(struct engine *e, pthread_cond_t *c, uintptr_t site)
{
    sim_program_writes(e, c, sizeof *c, site);
    sim_object_init(e, sim_object_at(e, c, site), site);
}

int
explored_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_cond_init(e, c, HERE);
    return pthread_cond_init(c, attr);
}

void
sim_cond_destroy(struct engine *e, pthread_cond_t *c, uintptr_t site)
{
    sim_object_destroy(e, sim_object_used(e, c, site), site);
}

int
explored_pthread_cond_destroy(pthread_cond_t *c)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_cond_destroy(c);
    sim_cond_destroy(e, c, HERE);
    return 0;
}

int
explored_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_cond_wait(c, m);
    return sim_cond_wait(e, c, m, NULL, HERE);
}

int
explored_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_cond_timedwait(c, m, until);
    return sim_cond_wait(e, c, m, until, HERE);
}

int
explored_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
                                clockid_t clock, const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_cond_clockwait(c, m, clock, until);
    return sim_cond_wait(e, c, m, until, HERE);
}

int
explored_pthread_cond_signal(pthread_cond_t *c)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_cond_signal(c);
    return sim_cond_wake(e, c, false, true, HERE);
}

int
explored_pthread_cond_broadcast(pthread_cond_t *c)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_cond_broadcast(c);
    return sim_cond_wake(e, c, true, true, HERE);
}

/* ---- Barriers ---- */

enum { LIBC_BARRIER_COUNT = 2 }; /* in, current_round, count, shared, out */

int
explored_pthread_barrier_init(pthread_barrier_t *b,
                              const pthread_barrierattr_t *attr,
                              unsigned int count)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_barrier_init(b, attr, count);
    if (count == 0)
        return EINVAL;
    sim_program_writes(e, b, sizeof *b, HERE);
    o = sim_object_at(e, b, HERE);
    o->known = true;
    o->size = count;
    o->count = 0;
    sim_object_init(e, o, HERE);
    return 0;
}

int
explored_pthread_barrier_destroy(pthread_barrier_t *b)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_barrier_destroy(b);
    sim_object_destroy(e, sim_object_used(e, b, HERE), HERE);
    return 0;
}

int
explored_pthread_barrier_wait(pthread_barrier_t *b)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_barrier_wait(b);
    o = sim_object_used(e, b, HERE);
    if (sim_object_is_new(o)) /* initialised before main, as glibc does it */
        o->size = ((const uint32_t *)(const void *)b)[LIBC_BARRIER_COUNT];
    if (o->size == 0)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, HERE, 0,
                          "a barrier is used that was not initialised");
    sim_object_point(e, o, false, HERE);
    if (o->count == 0)
        o->read = sim_self(e)->run.now; /* the first arrival of a new round */
    sim_object_event(e, o, "barrier", true, true, HERE);
    sim_clock_join(&o->read, &sim_self(e)->run.now);
    sim_seq_cst_sync(e);
    sim_order_record(e, &o->order, sim_self(e)->run.requested, true);
    if (++o->count < o->size) {
        sim_object_sleep(e, o, true, NULL, SIM_UNLIMITED, HERE);
        sim_object_gone_on(e, o, "past barrier", true, HERE);
        sim_self(e)->run.turns++;
        sim_clock_join(&sim_self(e)->run.now, &o->sync);
        sim_seq_cst_sync(e);
        return 0;
    }
    o->count = 0;
    o->sync = o->read;
    sim_clock_join(&sim_self(e)->run.now, &o->sync);
    sim_seq_cst_sync(e);
    sim_object_wake(e, o, UINT32_MAX, false);
    sim_self(e)->run.turns++;
    sim_order_offer(e, &o->order, true);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- Semaphores ---- */

/* A semaphore that was initialised before main has its value in memory, where
 * glibc put it. */
static struct object *
semaphore_at(struct engine *e, const sem_t *s, uintptr_t site)
{
    struct object *o = sim_object_used(e, s, site);
    int value = 0;

    if (sim_object_is_new(o) &&
        sem_getvalue((sem_t *)(uintptr_t)s, &value) == 0)
        o->count = (uint32_t)value;
    return o;
}

int
explored_sem_init(sem_t *s, int shared, unsigned int value)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return sem_init(s, shared, value);
    if (value > SEM_VALUE_MAX) {
        *explored___errno_location() = EINVAL;
        return -1;
    }
    sim_program_writes(e, s, sizeof *s, HERE);
    o = sim_object_at(e, s, HERE);
    o->known = true;
    o->count = value;
    sim_object_init(e, o, HERE);
    return 0;
}

int
explored_sem_destroy(sem_t *s)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return sem_destroy(s);
    sim_object_destroy(e, sim_object_used(e, s, HERE), HERE);
    return 0;
}

static void
count_down(struct engine *e, struct object *o)
{
    o->count--;
    sim_self(e)->run.turns++;
    sim_clock_join(&sim_self(e)->run.now, &o->sync);
    sim_seq_cst_sync(e);
    sim_object_settle(e, o);
    sim_object_done(e, o, true);
}

static int
sem_take(struct engine *e, sem_t *s, const struct timespec *until,
         uintptr_t site)
{
    struct object *o = semaphore_at(e, s, site);

    sim_round_arrive(e, site);
    if (!sim_object_wait(e, o, SIM_NEED_COUNT, sim_clock_limit(e, until),
                         site)) {
        sim_clock_reach(e, until);
        sim_object_event(e, o, "timed wait", false, false, site);
        sim_object_done(e, o, false);
        *explored___errno_location() = ETIMEDOUT;
        return -1;
    }
    sim_object_event(e, o, "wait", true, true, site);
    count_down(e, o);
    return 0;
}

int
explored_sem_wait(sem_t *s)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return sem_wait(s);
    return sem_take(e, s, NULL, HERE);
}

int
explored_sem_timedwait(sem_t *s, const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return sem_timedwait(s, until);
    return sem_take(e, s, until, HERE);
}

int
explored_sem_trywait(sem_t *s)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return sem_trywait(s);
    o = semaphore_at(e, s, HERE);
    sim_round_arrive(e, HERE);
    sim_object_point(e, o, false, HERE);
    sim_object_event(e, o, "try wait", o->count > 0, o->count > 0, HERE);
    if (o->count == 0) {
        sim_object_done(e, o, false);
        *explored___errno_location() = EAGAIN;
        return -1;
    }
    count_down(e, o);
    return 0;
}

int
explored_sem_post(sem_t *s)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return sem_post(s);
    o = semaphore_at(e, s, HERE);
    sim_object_point(e, o, false, HERE);
    if (o->count == SEM_VALUE_MAX) {
        sim_object_event(e, o, "post", false, false, HERE);
        sim_object_done(e, o, false);
        *explored___errno_location() = EOVERFLOW;
        return -1;
    }
    sim_object_event(e, o, "post", true, true, HERE);
    sim_self(e)->run.requested.shuts = o->count == 0;
    o->count++;
    sim_self(e)->run.turns++;
    sim_clock_join(&o->sync, &sim_self(e)->run.now);
    sim_seq_cst_sync(e);
    sim_object_settle(e, o);
    sim_object_done(e, o, true);
    return 0;
}

int
explored_sem_getvalue(sem_t *s, int *value)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return sem_getvalue(s, value);
    o = semaphore_at(e, s, HERE);
    sim_round_arrive(e, HERE);
    sim_object_point(e, o, true, HERE);
    sim_object_event(e, o, "value of", true, false, HERE);
    sim_program_writes(e, value, sizeof *value, HERE);
    *value = (int)o->count;
    sim_object_done(e, o, false);
    return 0;
}
