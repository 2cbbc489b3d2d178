/* wait.c -- condition variables, barriers and semaphores of a program. */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#include "explored.h"
#include "shims.h"

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
sim_cond_wait(pthread_cond_t *c, pthread_mutex_t *m,
              const struct timespec *until, uintptr_t site)
{
    struct object *cond = sim_object_used(c, site);
    struct object *lock = sim_object_used(m, site);
    const bool gives = lock->count == 1;
    struct asked asked;
    bool spurious;
    bool woken;

    if (lock->holder != sim_engine.current)
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, site, lock->site,
                          "a thread waits without the lock of the condition");
    sim_object_point(cond, true, site);
    asked = sim_self()->asked;
    if (gives)
        sim_order_ask(&lock->order, false, NULL, NULL);
    sim_object_event(cond, until != NULL ? "timed wait" : "wait", true, false,
                     site);
    sim_object_changed();
    spurious = sim_object_spurious();
    if (gives) {
        lock->version++;
        sim_object_give(lock, site);
    }
    sim_order_record(&cond->order, asked, false);
    if (gives)
        sim_order_record(&lock->order, sim_self()->asked, true);
    woken =
        sim_object_sleep(cond, false, gives ? lock : NULL,
                         spurious ? SIM_PASSED : sim_clock_limit(until), site);
    if (woken || spurious)
        sim_self()->turns++;
    if (gives) {
        sim_object_event(lock, end_text(woken, spurious), woken, true, site);
        sim_object_take(lock, site);
        lock->count = 1;
        sim_object_done(lock, true);
    } else {
        sim_object_gone_on(cond, sim_sleep_end(woken, spurious), woken, site);
    }
    if (woken || spurious)
        return 0;
    sim_clock_reach(until);
    return ETIMEDOUT;
}

int
sim_cond_wake(pthread_cond_t *c, bool all, uintptr_t site)
{
    struct object *o = sim_object_used(c, site);

    sim_object_point(o, false, site);
    sim_object_event(o, all ? "broadcast" : "signal", true, true, site);
    sim_order_record(&o->order, sim_self()->asked, true);
    if (sim_object_wake(o, all ? UINT32_MAX : 1) > 0)
        sim_self()->turns++;
    sim_order_offer(&o->order, true);
    return 0;
}

void
sim_cond_init(pthread_cond_t *c, uintptr_t site)
{
    sim_program_writes(c, sizeof *c, site);
    sim_object_init(sim_object_at(c, site), site);
}

int
explored_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    if (sim_program_runs())
        sim_cond_init(c, HERE);
    return pthread_cond_init(c, attr);
}

void
sim_cond_destroy(pthread_cond_t *c, uintptr_t site)
{
    sim_object_destroy(sim_object_used(c, site), site);
}

int
explored_pthread_cond_destroy(pthread_cond_t *c)
{
    if (!sim_program_runs())
        return pthread_cond_destroy(c);
    sim_cond_destroy(c, HERE);
    return 0;
}

int
explored_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    if (!sim_program_runs())
        return pthread_cond_wait(c, m);
    return sim_cond_wait(c, m, NULL, HERE);
}

int
explored_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_cond_timedwait(c, m, until);
    return sim_cond_wait(c, m, until, HERE);
}

int
explored_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
                                clockid_t clock, const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_cond_clockwait(c, m, clock, until);
    return sim_cond_wait(c, m, until, HERE);
}

int
explored_pthread_cond_signal(pthread_cond_t *c)
{
    if (!sim_program_runs())
        return pthread_cond_signal(c);
    return sim_cond_wake(c, false, HERE);
}

int
explored_pthread_cond_broadcast(pthread_cond_t *c)
{
    if (!sim_program_runs())
        return pthread_cond_broadcast(c);
    return sim_cond_wake(c, true, HERE);
}

/* ---- Barriers ---- */

enum { LIBC_BARRIER_COUNT = 2 }; /* in, current_round, count, shared, out */

int
explored_pthread_barrier_init(pthread_barrier_t *b,
                              const pthread_barrierattr_t *attr,
                              unsigned int count)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_barrier_init(b, attr, count);
    if (count == 0)
        return EINVAL;
    sim_program_writes(b, sizeof *b, HERE);
    o = sim_object_at(b, HERE);
    o->known = true;
    o->size = count;
    o->count = 0;
    sim_object_init(o, HERE);
    return 0;
}

int
explored_pthread_barrier_destroy(pthread_barrier_t *b)
{
    if (!sim_program_runs())
        return pthread_barrier_destroy(b);
    sim_object_destroy(sim_object_used(b, HERE), HERE);
    return 0;
}

int
explored_pthread_barrier_wait(pthread_barrier_t *b)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_barrier_wait(b);
    o = sim_object_used(b, HERE);
    if (sim_object_is_new(o)) /* initialised before main, as glibc does it */
        o->size = ((const uint32_t *)(const void *)b)[LIBC_BARRIER_COUNT];
    if (o->size == 0)
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, HERE, 0,
                          "a barrier is used that was not initialised");
    sim_object_point(o, false, HERE);
    if (o->count == 0)
        o->read = sim_self()->now; /* the first arrival of a new round */
    sim_object_event(o, "barrier", true, true, HERE);
    sim_clock_join(&o->read, &sim_self()->now);
    sim_seq_cst_sync();
    sim_order_record(&o->order, sim_self()->asked, true);
    if (++o->count < o->size) {
        sim_object_sleep(o, true, NULL, SIM_UNLIMITED, HERE);
        sim_object_gone_on(o, "past barrier", true, HERE);
        sim_self()->turns++;
        sim_clock_join(&sim_self()->now, &o->sync);
        sim_seq_cst_sync();
        return 0;
    }
    o->count = 0;
    o->sync = o->read;
    sim_clock_join(&sim_self()->now, &o->sync);
    sim_seq_cst_sync();
    sim_object_wake(o, UINT32_MAX);
    sim_self()->turns++;
    sim_order_offer(&o->order, true);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- Semaphores ---- */

/* A semaphore that was initialised before main has its value in memory, where
 * glibc put it. */
static struct object *
semaphore_at(const sem_t *s, uintptr_t site)
{
    struct object *o = sim_object_used(s, site);
    int value = 0;

    if (sim_object_is_new(o) &&
        sem_getvalue((sem_t *)(uintptr_t)s, &value) == 0)
        o->count = (uint32_t)value;
    return o;
}

int
explored_sem_init(sem_t *s, int shared, unsigned int value)
{
    struct object *o;

    if (!sim_program_runs())
        return sem_init(s, shared, value);
    if (value > SEM_VALUE_MAX) {
        *explored___errno_location() = EINVAL;
        return -1;
    }
    sim_program_writes(s, sizeof *s, HERE);
    o = sim_object_at(s, HERE);
    o->known = true;
    o->count = value;
    sim_object_init(o, HERE);
    return 0;
}

int
explored_sem_destroy(sem_t *s)
{
    if (!sim_program_runs())
        return sem_destroy(s);
    sim_object_destroy(sim_object_used(s, HERE), HERE);
    return 0;
}

static void
count_down(struct object *o)
{
    o->count--;
    sim_self()->turns++;
    sim_clock_join(&sim_self()->now, &o->sync);
    sim_seq_cst_sync();
    sim_object_settle(o);
    sim_object_done(o, true);
}

static int
sem_take(sem_t *s, const struct timespec *until, uintptr_t site)
{
    struct object *o = semaphore_at(s, site);

    sim_round_arrive(site);
    if (!sim_object_wait(o, SIM_NEED_COUNT, sim_clock_limit(until), site)) {
        sim_clock_reach(until);
        sim_object_event(o, "timed wait", false, false, site);
        sim_object_done(o, false);
        *explored___errno_location() = ETIMEDOUT;
        return -1;
    }
    sim_object_event(o, "wait", true, true, site);
    count_down(o);
    return 0;
}

int
explored_sem_wait(sem_t *s)
{
    if (!sim_program_runs())
        return sem_wait(s);
    return sem_take(s, NULL, HERE);
}

int
explored_sem_timedwait(sem_t *s, const struct timespec *until)
{
    if (!sim_program_runs())
        return sem_timedwait(s, until);
    return sem_take(s, until, HERE);
}

int
explored_sem_trywait(sem_t *s)
{
    struct object *o;

    if (!sim_program_runs())
        return sem_trywait(s);
    o = semaphore_at(s, HERE);
    sim_round_arrive(HERE);
    sim_object_point(o, false, HERE);
    sim_object_event(o, "try wait", o->count > 0, o->count > 0, HERE);
    if (o->count == 0) {
        sim_object_done(o, false);
        *explored___errno_location() = EAGAIN;
        return -1;
    }
    count_down(o);
    return 0;
}

int
explored_sem_post(sem_t *s)
{
    struct object *o;

    if (!sim_program_runs())
        return sem_post(s);
    o = semaphore_at(s, HERE);
    sim_object_point(o, false, HERE);
    if (o->count == SEM_VALUE_MAX) {
        sim_object_event(o, "post", false, false, HERE);
        sim_object_done(o, false);
        *explored___errno_location() = EOVERFLOW;
        return -1;
    }
    sim_object_event(o, "post", true, true, HERE);
    sim_self()->asked.shuts = o->count == 0;
    o->count++;
    sim_self()->turns++;
    sim_clock_join(&o->sync, &sim_self()->now);
    sim_seq_cst_sync();
    sim_object_settle(o);
    sim_object_done(o, true);
    return 0;
}

int
explored_sem_getvalue(sem_t *s, int *value)
{
    struct object *o;

    if (!sim_program_runs())
        return sem_getvalue(s, value);
    o = semaphore_at(s, HERE);
    sim_round_arrive(HERE);
    sim_object_point(o, true, HERE);
    sim_object_event(o, "value of", true, false, HERE);
    sim_program_writes(value, sizeof *value, HERE);
    *value = (int)o->count;
    sim_object_done(o, false);
    return 0;
}
