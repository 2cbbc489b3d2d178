/* rwlock.c -- locks that several threads may hold for reading. */
#include "program.h"

#include <errno.h>
#include <pthread.h>

#include "explored.h"

static void
read_taken(struct object *o, const char *what, uintptr_t site)
{
    struct engine *e = &sim_engine;

    sim_object_event(o, what, true, false, site);
    o->readers |= 1U << e->current;
    o->held[e->current]++;
    o->site = site;
    sim_clock_join(&sim_self()->now, &o->sync);
    sim_seq_cst_sync();
    sim_object_settle(o);
    sim_object_done(o, false);
}

static void
write_taken(struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(o, what, true, true, site);
    sim_object_take(o, site);
    sim_object_done(o, true);
}

/* Record a failed attempt. If readers made it fail, it does not commute with
 * them, although readers are looks (reduce.h). */
static void
not_taken(struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(o, what, false, false, site);
    sim_object_done(o, o->readers != 0);
}

static int
read_lock(pthread_rwlock_t *lock, const struct timespec *until, uintptr_t site)
{
    struct object *o = sim_object_used(lock, site);

    if (o->holder == sim_engine.current)
        return EDEADLK;
    if (!sim_object_wait(o, SIM_NEED_READ, sim_clock_limit(until), site)) {
        sim_clock_reach(until);
        not_taken(o, "timed read lock", site);
        return ETIMEDOUT;
    }
    read_taken(o, "read lock", site);
    return 0;
}

static int
write_lock(pthread_rwlock_t *lock, const struct timespec *until, uintptr_t site)
{
    struct object *o = sim_object_used(lock, site);

    if (o->holder == sim_engine.current)
        return EDEADLK;
    if (!sim_object_wait(o, SIM_NEED_LOCK, sim_clock_limit(until), site)) {
        sim_clock_reach(until);
        not_taken(o, "timed write lock", site);
        return ETIMEDOUT;
    }
    write_taken(o, "write lock", site);
    return 0;
}

static int
unlock(pthread_rwlock_t *lock, uintptr_t site)
{
    struct engine *e = &sim_engine;
    struct object *o = sim_object_used(lock, site);

    if (o->holder != e->current && (o->readers >> e->current & 1) == 0)
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a thread gives back a lock that it does not hold");
    sim_object_point(o, o->holder != e->current, site);
    if (o->holder == e->current) {
        sim_object_event(o, "write unlock", true, true, site);
        sim_object_give(o, site);
        sim_object_done(o, true);
        return 0;
    }
    sim_object_event(o, "read unlock", true, false, site);
    sim_self()->asked.shuts = true;
    if (--o->held[e->current] == 0)
        o->readers &= ~(1U << e->current);
    sim_clock_join(&o->read, &sim_self()->now);
    sim_seq_cst_sync();
    sim_object_changed();
    sim_object_settle(o);
    sim_object_done(o, false);
    return 0;
}

int
explored_pthread_rwlock_init(pthread_rwlock_t *lock,
                             const pthread_rwlockattr_t *attr)
{
    if (sim_program_runs()) {
        sim_program_writes(lock, sizeof *lock, HERE);
        sim_object_init(sim_object_at(lock, HERE), HERE);
    }
    return pthread_rwlock_init(lock, attr);
}

int
explored_pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    if (sim_program_runs())
        sim_object_destroy(sim_object_used(lock, HERE), HERE);
    return pthread_rwlock_destroy(lock);
}

int
explored_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    if (!sim_program_runs())
        return pthread_rwlock_rdlock(lock);
    return read_lock(lock, NULL, HERE);
}

int
explored_pthread_rwlock_timedrdlock(pthread_rwlock_t *lock,
                                    const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_rwlock_timedrdlock(lock, until);
    return read_lock(lock, until, HERE);
}

int
explored_pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                    const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_rwlock_clockrdlock(lock, clock, until);
    return read_lock(lock, until, HERE);
}

int
explored_pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_rwlock_tryrdlock(lock);
    o = sim_object_used(lock, HERE);
    sim_round_arrive(HERE);
    sim_object_point(o, true, HERE);
    if (!sim_object_admits(o, SIM_NEED_READ)) {
        not_taken(o, "try read lock", HERE);
        return EBUSY;
    }
    read_taken(o, "try read lock", HERE);
    return 0;
}

int
explored_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    if (!sim_program_runs())
        return pthread_rwlock_wrlock(lock);
    return write_lock(lock, NULL, HERE);
}

int
explored_pthread_rwlock_timedwrlock(pthread_rwlock_t *lock,
                                    const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_rwlock_timedwrlock(lock, until);
    return write_lock(lock, until, HERE);
}

int
explored_pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                    const struct timespec *until)
{
    if (!sim_program_runs())
        return pthread_rwlock_clockwrlock(lock, clock, until);
    return write_lock(lock, until, HERE);
}

int
explored_pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    struct object *o;

    if (!sim_program_runs())
        return pthread_rwlock_trywrlock(lock);
    o = sim_object_used(lock, HERE);
    sim_round_arrive(HERE);
    sim_object_point(o, false, HERE);
    if (!sim_object_admits(o, SIM_NEED_LOCK)) {
        not_taken(o, "try write lock", HERE);
        return EBUSY;
    }
    write_taken(o, "try write lock", HERE);
    return 0;
}

int
explored_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (!sim_program_runs())
        return pthread_rwlock_unlock(lock);
    return unlock(lock, HERE);
}
