/* rwlock.c -- locks that several threads may hold for reading. */
#include "explore/runtime/program.h"

#include <errno.h>
#include <pthread.h>

#include "explore/runtime/explored.h"

static void
read_taken(struct engine *e, struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(e, o, what, true, false, site);
    o->readers |= 1U << e->current;
    o->held[e->current]++;
    o->site = site;
    sim_clock_join(&sim_self(e)->run.now, &o->sync);
    sim_seq_cst_sync(e);
    sim_object_settle(e, o);
    sim_object_done(e, o, false);
}

static void
write_taken(struct engine *e, struct object *o, const char *what,
            uintptr_t site)
{
    sim_object_event(e, o, what, true, true, site);
    sim_object_take(e, o, site);
    sim_object_done(e, o, true);
}

/* Record a failed attempt. If readers made it fail, it does not commute with
 * them, although readers are looks (reduce.h). */
static void
not_taken(struct engine *e, struct object *o, const char *what, uintptr_t site)
{
    sim_object_event(e, o, what, false, false, site);
    sim_object_done(e, o, o->readers != 0);
}

static int
read_lock(struct engine *e, pthread_rwlock_t *lock,
          const struct timespec *until, uintptr_t site)
{
    struct object *o = sim_object_used(e, lock, site);

    if (o->holder == e->current)
        return EDEADLK;
    if (!sim_object_wait(e, o, SIM_NEED_READ, sim_clock_limit(e, until),
                         site)) {
        sim_clock_reach(e, until);
        not_taken(e, o, "timed read lock", site);
        return ETIMEDOUT;
    }
    read_taken(e, o, "read lock", site);
    return 0;
}

static int
write_lock(struct engine *e, pthread_rwlock_t *lock,
           const struct timespec *until, uintptr_t site)
{
    struct object *o = sim_object_used(e, lock, site);

    if (o->holder == e->current)
        return EDEADLK;
    if (!sim_object_wait(e, o, SIM_NEED_LOCK, sim_clock_limit(e, until),
                         site)) {
        sim_clock_reach(e, until);
        not_taken(e, o, "timed write lock", site);
        return ETIMEDOUT;
    }
    write_taken(e, o, "write lock", site);
    return 0;
}

static int
unlock(struct engine *e, pthread_rwlock_t *lock, uintptr_t site)
{
    struct object *o = sim_object_used(e, lock, site);

    if (o->holder != e->current && (o->readers >> e->current & 1) == 0)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, o->site,
                          "a thread gives back a lock that it does not hold");
    sim_object_point(e, o, o->holder != e->current, site);
    if (o->holder == e->current) {
        sim_object_event(e, o, "write unlock", true, true, site);
        sim_object_give(e, o, site);
        sim_object_done(e, o, true);
        return 0;
    }
    sim_object_event(e, o, "read unlock", true, false, site);
    sim_self(e)->run.requested.shuts = true;
    if (--o->held[e->current] == 0)
        o->readers &= ~(1U << e->current);
    sim_clock_join(&o->read, &sim_self(e)->run.now);
    sim_seq_cst_sync(e);
    sim_object_changed(e);
    sim_object_settle(e, o);
    sim_object_done(e, o, false);
    return 0;
}

int
explored_pthread_rwlock_init(pthread_rwlock_t *lock,
                             const pthread_rwlockattr_t *attr)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e)) {
        sim_program_writes(e, lock, sizeof *lock, HERE);
        sim_object_init(e, sim_object_at(e, lock, HERE), HERE);
    }
    return pthread_rwlock_init(lock, attr);
}

int
explored_pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_object_destroy(e, sim_object_used(e, lock, HERE), HERE);
    return pthread_rwlock_destroy(lock);
}

int
explored_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_rdlock(lock);
    return read_lock(e, lock, NULL, HERE);
}

int
explored_pthread_rwlock_timedrdlock(pthread_rwlock_t *lock,
                                    const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_timedrdlock(lock, until);
    return read_lock(e, lock, until, HERE);
}

int
explored_pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                    const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_clockrdlock(lock, clock, until);
    return read_lock(e, lock, until, HERE);
}

int
explored_pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_rwlock_tryrdlock(lock);
    o = sim_object_used(e, lock, HERE);
    sim_round_arrive(e, HERE);
    sim_object_point(e, o, true, HERE);
    if (!sim_object_admits(o, SIM_NEED_READ)) {
        not_taken(e, o, "try read lock", HERE);
        return EBUSY;
    }
    read_taken(e, o, "try read lock", HERE);
    return 0;
}

int
explored_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_wrlock(lock);
    return write_lock(e, lock, NULL, HERE);
}

int
explored_pthread_rwlock_timedwrlock(pthread_rwlock_t *lock,
                                    const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_timedwrlock(lock, until);
    return write_lock(e, lock, until, HERE);
}

int
explored_pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                    const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_clockwrlock(lock, clock, until);
    return write_lock(e, lock, until, HERE);
}

int
explored_pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    struct engine *e = &sim_engine;
    struct object *o;

    if (!sim_program_runs(e))
        return pthread_rwlock_trywrlock(lock);
    o = sim_object_used(e, lock, HERE);
    sim_round_arrive(e, HERE);
    sim_object_point(e, o, false, HERE);
    if (!sim_object_admits(o, SIM_NEED_LOCK)) {
        not_taken(e, o, "try write lock", HERE);
        return EBUSY;
    }
    write_taken(e, o, "try write lock", HERE);
    return 0;
}

int
explored_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_rwlock_unlock(lock);
    return unlock(e, lock, HERE);
}
