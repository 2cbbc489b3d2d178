/*
 * mutex.c -- mutexes, spin locks and rwlocks of a program.
 *
 * The kind of a lock is read from the program's memory, where glibc's static
 * initialisers write it. The holder is kept in the lock's object (object.h).
 */
#include "program.h"

#include <errno.h>
#include <pthread.h>

#include "explored.h"
#include "shims.h"

static int
kind_of(const pthread_mutex_t *m)
{
    return m->__data.__kind & 3;
}

/* A lock that was taken before main is held by main's thread. */
static void
take_over(struct object *o, const pthread_mutex_t *m)
{
    if (!sim_object_is_new(o) || m->__data.__owner == 0)
        return;
    o->holder = 0;
    o->count =
        1 + (kind_of(m) == PTHREAD_MUTEX_RECURSIVE) * (m->__data.__count - 1);
}

static struct object *
mutex_at(const pthread_mutex_t *m, uintptr_t site)
{
    struct object *o = sim_object_used(m, site);

    take_over(o, m);
    return o;
}

static void
lock_init(const volatile void *lock, uintptr_t site)
{
    struct object *o = sim_object_at((const void *)(uintptr_t)lock, site);

    if (!o->destroyed && (o->holder != SIM_THREADS_MAX || o->readers != 0))
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a lock is initialised while it is held");
    sim_object_init(o, site);
}

static void
lock_destroy(const volatile void *lock, uintptr_t site)
{
    sim_object_destroy(sim_object_used(lock, site), site);
}

static bool
is_mine(const struct object *o)
{
    return o->holder == sim_engine.current;
}

/* Is it an error at once that the caller holds the mutex already? Not in a
 * timed wait for a normal mutex, which times out. */
static bool
is_again(const struct object *o, int kind, const struct timespec *until)
{
    return is_mine(o) && (until == NULL || kind == PTHREAD_MUTEX_RECURSIVE ||
                          kind == PTHREAD_MUTEX_ERRORCHECK);
}

/* returns: 0, or the error if the caller holds it already */
static int
lock_again(struct object *o, int kind, uintptr_t site)
{
    if (kind == PTHREAD_MUTEX_RECURSIVE) {
        o->count++;
        return 0;
    }
    if (kind == PTHREAD_MUTEX_ERRORCHECK)
        return EDEADLK;
    sim_engine_refuse(SIM_FAIL_DEADLOCK, site, o->site,
                      "a thread waits for a lock that it holds itself");
}

static void
taken(struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(o, what, true, true, site);
    sim_object_take(o, site);
    o->count = 1;
    sim_object_done(o, true);
}

static void
not_taken(struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(o, what, false, false, site);
    sim_object_done(o, false);
}

static void
given(struct object *o, uintptr_t site)
{
    sim_object_point(o, false, site);
    sim_object_event(o, "unlock", true, true, site);
    sim_object_give(o, site);
    sim_object_done(o, true);
}

int
sim_mutex_lock(pthread_mutex_t *m, const struct timespec *until, uintptr_t site)
{
    struct object *o = mutex_at(m, site);

    if (is_again(o, kind_of(m), until))
        return lock_again(o, kind_of(m), site);
    sim_round_arrive(site);
    if (!sim_object_wait(o, SIM_NEED_LOCK, sim_clock_limit(until), site)) {
        sim_clock_reach(until);
        not_taken(o, "timed lock", site);
        return ETIMEDOUT;
    }
    taken(o, "lock", site);
    return 0;
}

int
sim_mutex_unlock(pthread_mutex_t *m, uintptr_t site)
{
    struct object *o = mutex_at(m, site);
    const int kind = kind_of(m);

    if (!is_mine(o)) {
        if (kind == PTHREAD_MUTEX_ERRORCHECK || kind == PTHREAD_MUTEX_RECURSIVE)
            return EPERM;
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a thread gives back a lock that it does not hold");
    }
    if (kind == PTHREAD_MUTEX_RECURSIVE && --o->count > 0)
        return 0;
    given(o, site);
    return 0;
}

int
sim_mutex_try(pthread_mutex_t *m, uintptr_t site)
{
    struct object *o = mutex_at(m, site);

    if (is_mine(o) && kind_of(m) == PTHREAD_MUTEX_RECURSIVE) {
        o->count++;
        return 0;
    }
    sim_round_arrive(site);
    sim_object_point(o, false, site);
    if (!sim_object_admits(o, SIM_NEED_LOCK)) {
        not_taken(o, "try lock", site);
        return EBUSY;
    }
    taken(o, "try lock", site);
    return 0;
}

void
sim_mutex_init(pthread_mutex_t *m, uintptr_t site)
{
    sim_program_writes(m, sizeof *m, site);
    lock_init(m, site);
}

void
sim_mutex_destroy(pthread_mutex_t *m, uintptr_t site)
{
    lock_destroy(m, site);
}

/* ---- Mutexes ---- */

int
explored_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    if (sim_program_runs())
        sim_mutex_init(m, HERE);
    return pthread_mutex_init(m, attr);
}

int
explored_pthread_mutex_destroy(pthread_mutex_t *m)
{
    if (sim_program_runs())
        sim_mutex_destroy(m, HERE);
    return pthread_mutex_destroy(m);
}

int
explored_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!sim_program_runs())
        return pthread_mutex_lock(m);
    return sim_mutex_lock(m, NULL, HERE);
}

int
explored_pthread_mutex_timedlock(pthread_mutex_t *m,
                                 const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_mutex_timedlock(m, until);
    return sim_mutex_lock(m, until, HERE);
}

int
explored_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                 const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_mutex_clocklock(m, clock, until);
    return sim_mutex_lock(m, until, HERE);
}

int
explored_pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (!sim_program_runs())
        return pthread_mutex_trylock(m);
    return sim_mutex_try(m, HERE);
}

int
explored_pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (!sim_program_runs())
        return pthread_mutex_unlock(m);
    return sim_mutex_unlock(m, HERE);
}

/* ---- Spin locks ---- */

int
explored_pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    if (!sim_program_runs())
        return pthread_spin_init(lock, shared);
    sim_program_writes(lock, sizeof *lock, HERE);
    lock_init(lock, HERE);
    return 0;
}

int
explored_pthread_spin_destroy(pthread_spinlock_t *lock)
{
    if (!sim_program_runs())
        return pthread_spin_destroy(lock);
    lock_destroy(lock, HERE);
    return 0;
}

int
explored_pthread_spin_lock(pthread_spinlock_t *lock)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_spin_lock(lock);
    o = sim_object_used(lock, HERE);
    if (is_mine(o))
        return lock_again(o, PTHREAD_MUTEX_NORMAL, HERE);
    sim_object_wait(o, SIM_NEED_LOCK, SIM_UNLIMITED, HERE);
    taken(o, "lock", HERE);
    return 0;
}

int
explored_pthread_spin_trylock(pthread_spinlock_t *lock)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_spin_trylock(lock);
    o = sim_object_used(lock, HERE);
    sim_round_arrive(HERE);
    sim_object_point(o, false, HERE);
    if (!sim_object_admits(o, SIM_NEED_LOCK)) {
        not_taken(o, "try lock", HERE);
        return EBUSY;
    }
    taken(o, "try lock", HERE);
    return 0;
}

int
explored_pthread_spin_unlock(pthread_spinlock_t *lock)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_spin_unlock(lock);
    o = sim_object_used(lock, HERE);
    if (!is_mine(o))
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, HERE, o->site,
                          "a thread gives back a lock that it does not hold");
    given(o, HERE);
    return 0;
}
