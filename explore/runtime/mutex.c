/*
 * mutex.c -- mutexes, spin locks and rwlocks of a program.
 *
 * The kind of a lock is read from the program's memory, where glibc's static
 * initialisers write it. The holder is kept in the lock's object (object.h).
 */
#include "explore/runtime/program.h"

#include <errno.h>
#include <pthread.h>

#include "explore/runtime/explored.h"
#include "explore/runtime/shims.h"

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
mutex_at(struct engine *e, const pthread_mutex_t *m, uintptr_t site)
{
    struct object *o = sim_object_used(e, m, site);

    take_over(o, m);
    return o;
}

static void
lock_init(struct engine *e, const volatile void *lock, uintptr_t site)
{
    struct object *o = sim_object_at(e, (const void *)(uintptr_t)lock, site);

    if (!o->destroyed && (o->holder != SIM_THREADS_MAX || o->readers != 0))
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a lock is initialised while it is held");
    sim_object_init(e, o, site);
}

static void
lock_destroy(struct engine *e, const volatile void *lock, uintptr_t site)
{
    sim_object_destroy(e, sim_object_used(e, lock, site), site);
}

static bool
is_mine(struct engine *e, const struct object *o)
{
    return o->holder == e->current;
}

/* Is it an error at once that the caller holds the mutex already? Not in a
 * timed wait for a normal mutex, which times out. */
static bool
is_again(struct engine *e, const struct object *o, int kind,
         const struct timespec *until)
{
    return is_mine(e, o) && (until == NULL || kind == PTHREAD_MUTEX_RECURSIVE ||
                             kind == PTHREAD_MUTEX_ERRORCHECK);
}

/* returns: 0, or the error if the caller holds it already */
static int
lock_again(struct engine *e, struct object *o, int kind, uintptr_t site)
{
    if (kind == PTHREAD_MUTEX_RECURSIVE) {
        o->count++;
        return 0;
    }
    if (kind == PTHREAD_MUTEX_ERRORCHECK)
        return EDEADLK;
    sim_engine_refuse(e, SIM_FAIL_DEADLOCK, site, o->site,
                      "a thread waits for a lock that it holds itself");
}

static void
taken(struct engine *e, struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(e, o, what, true, true, site);
    sim_object_take(e, o, site);
    o->count = 1;
    sim_object_done(e, o, true);
}

static void
not_taken(struct engine *e, struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(e, o, what, false, false, site);
    sim_object_done(e, o, false);
}

static void
given(struct engine *e, struct object *o, uintptr_t site)
{
    sim_object_point(e, o, false, site);
    sim_object_event(e, o, "unlock", true, true, site);
    sim_object_give(e, o, site);
    sim_object_done(e, o, true);
}

int
sim_mutex_lock(struct engine *e, pthread_mutex_t *m,
               const struct timespec *until, uintptr_t site)
{
    struct object *o = mutex_at(e, m, site);

    if (is_again(e, o, kind_of(m), until))
        return lock_again(e, o, kind_of(m), site);
    sim_round_arrive(e, site);
    if (!sim_object_wait(e, o, SIM_NEED_LOCK, sim_clock_limit(e, until),
                         site)) {
        sim_clock_reach(e, until);
        not_taken(e, o, "timed lock", site);
        return ETIMEDOUT;
    }
    taken(e, o, "lock", site);
    return 0;
}

int
sim_mutex_unlock(struct engine *e, pthread_mutex_t *m, uintptr_t site)
{
    struct object *o = mutex_at(e, m, site);
    const int kind = kind_of(m);

    if (!is_mine(e, o)) {
        if (kind == PTHREAD_MUTEX_ERRORCHECK || kind == PTHREAD_MUTEX_RECURSIVE)
            return EPERM;
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a thread gives back a lock that it does not hold");
    }
    if (kind == PTHREAD_MUTEX_RECURSIVE && --o->count > 0)
        return 0;
    given(e, o, site);
    return 0;
}

int
sim_mutex_try(struct engine *e, pthread_mutex_t *m, uintptr_t site)
{
    struct object *o = mutex_at(e, m, site);

    if (is_mine(e, o) && kind_of(m) == PTHREAD_MUTEX_RECURSIVE) {
        o->count++;
        return 0;
    }
    sim_round_arrive(e, site);
    sim_object_point(e, o, false, site);
    if (!sim_object_admits(o, SIM_NEED_LOCK)) {
        not_taken(e, o, "try lock", site);
        return EBUSY;
    }
    taken(e, o, "try lock", site);
    return 0;
}

void
sim_mutex_init(struct engine *e, pthread_mutex_t *m, uintptr_t site)
{
    sim_program_writes(e, m, sizeof *m, site);
    lock_init(e, m, site);
}

void
sim_mutex_destroy(struct engine *e, pthread_mutex_t *m, uintptr_t site)
{
    lock_destroy(e, m, site);
}

/* ---- Mutexes ---- */

int
explored_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_mutex_init(e, m, HERE);
    return pthread_mutex_init(m, attr);
}

int
explored_pthread_mutex_destroy(pthread_mutex_t *m)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_mutex_destroy(e, m, HERE);
    return pthread_mutex_destroy(m);
}

int
explored_pthread_mutex_lock(pthread_mutex_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_mutex_lock(m);
    return sim_mutex_lock(e, m, NULL, HERE);
}

int
explored_pthread_mutex_timedlock(pthread_mutex_t *m,
                                 const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_mutex_timedlock(m, until);
    return sim_mutex_lock(e, m, until, HERE);
}

int
explored_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                 const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_mutex_clocklock(m, clock, until);
    return sim_mutex_lock(e, m, until, HERE);
}

int
explored_pthread_mutex_trylock(pthread_mutex_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_mutex_trylock(m);
    return sim_mutex_try(e, m, HERE);
}

int
explored_pthread_mutex_unlock(pthread_mutex_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_mutex_unlock(m);
    return sim_mutex_unlock(e, m, HERE);
}

/* ---- Spin locks ---- */

int
explored_pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_spin_init(lock, shared);
    sim_program_writes(e, lock, sizeof *lock, HERE);
    lock_init(e, lock, HERE);
    return 0;
}

int
explored_pthread_spin_destroy(pthread_spinlock_t *lock)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_spin_destroy(lock);
    lock_destroy(e, lock, HERE);
    return 0;
}

int
explored_pthread_spin_lock(pthread_spinlock_t *lock)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_spin_lock(lock);
    o = sim_object_used(e, lock, HERE);
    if (is_mine(e, o))
        return lock_again(e, o, PTHREAD_MUTEX_NORMAL, HERE);
    sim_object_wait(e, o, SIM_NEED_LOCK, SIM_UNLIMITED, HERE);
    taken(e, o, "lock", HERE);
    return 0;
}

int
explored_pthread_spin_trylock(pthread_spinlock_t *lock)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_spin_trylock(lock);
    o = sim_object_used(e, lock, HERE);
    sim_round_arrive(e, HERE);
    sim_object_point(e, o, false, HERE);
    if (!sim_object_admits(o, SIM_NEED_LOCK)) {
        not_taken(e, o, "try lock", HERE);
        return EBUSY;
    }
    taken(e, o, "try lock", HERE);
    return 0;
}

int
explored_pthread_spin_unlock(pthread_spinlock_t *lock)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_spin_unlock(lock);
    o = sim_object_used(e, lock, HERE);
    if (!is_mine(e, o))
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, HERE, o->site,
                          "a thread gives back a lock that it does not hold");
    given(e, o, HERE);
    return 0;
}
