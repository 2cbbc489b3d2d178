/*
 * locks.c -- waits for locks that really blocked, interposed.
 *
 * A lock is tried first; only when that fails is there anything to tell.
 */
#include "hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
    int (*mutex_lock)(pthread_mutex_t *);
    int (*mutex_trylock)(pthread_mutex_t *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*read_lock)(pthread_rwlock_t *);
    int (*read_trylock)(pthread_rwlock_t *);
    int (*write_lock)(pthread_rwlock_t *);
    int (*write_trylock)(pthread_rwlock_t *);
    int (*rwlock_unlock)(pthread_rwlock_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *,
                          const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                          const struct timespec *);
    int (*close_library)(void *);
    _Atomic bool ready;
} real;

void
embed_locks_resolve(void)
{
    /* The oldest version of the waits has another layout of the condition. */
    embed_resolve(&real.mutex_lock, "pthread_mutex_lock", NULL);
    embed_resolve(&real.mutex_trylock, "pthread_mutex_trylock", NULL);
    embed_resolve(&real.mutex_unlock, "pthread_mutex_unlock", NULL);
    embed_resolve(&real.read_lock, "pthread_rwlock_rdlock", NULL);
    embed_resolve(&real.read_trylock, "pthread_rwlock_tryrdlock", NULL);
    embed_resolve(&real.write_lock, "pthread_rwlock_wrlock", NULL);
    embed_resolve(&real.write_trylock, "pthread_rwlock_trywrlock", NULL);
    embed_resolve(&real.rwlock_unlock, "pthread_rwlock_unlock", NULL);
    embed_resolve(&real.cond_wait, "pthread_cond_wait", "GLIBC_2.3.2");
    embed_resolve(&real.cond_timedwait, "pthread_cond_timedwait",
                  "GLIBC_2.3.2");
    embed_resolve(&real.cond_clockwait, "pthread_cond_clockwait", NULL);
    embed_resolve(&real.close_library, "dlclose", NULL);
    atomic_store_explicit(&real.ready, true, memory_order_release);
}

/* Before main there is one thread: a lock not yet known needs no locking. */
static bool
is_ready(void)
{
    bool inside = embed_inside;

    if (atomic_load_explicit(&real.ready, memory_order_acquire))
        return true;
    if (inside)
        return false;
    embed_inside = true;
    embed_locks_resolve();
    embed_inside = inside;
    return true;
}

#define FRAME __builtin_frame_address(0)

EMBED_HOOK int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct embed_wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.mutex_lock(mutex);
    status = real.mutex_trylock(mutex);
    if (status != EBUSY)
        return status;
    if (!embed_on_wait(&wait, mutex, true, FRAME))
        return real.mutex_lock(mutex);
    status = real.mutex_lock(mutex);
    embed_on_waited(&wait, EMBED_LOCK_MUTEX, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    uint64_t token;
    int status;

    if (!is_ready())
        return 0;
    token = embed_on_release(mutex, EMBED_LOCK_MUTEX, FRAME);
    status = real.mutex_unlock(mutex);
    if (token != 0)
        embed_on_released(token, FRAME);
    return status;
}

EMBED_HOOK int
pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    struct embed_wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.read_lock(lock);
    status = real.read_trylock(lock);
    if (status != EBUSY)
        return status;
    if (!embed_on_wait(&wait, lock, true, FRAME))
        return real.read_lock(lock);
    status = real.read_lock(lock);
    embed_on_waited(&wait, EMBED_LOCK_READ, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    struct embed_wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.write_lock(lock);
    status = real.write_trylock(lock);
    if (status != EBUSY)
        return status;
    if (!embed_on_wait(&wait, lock, true, FRAME))
        return real.write_lock(lock);
    status = real.write_lock(lock);
    embed_on_waited(&wait, EMBED_LOCK_WRITE, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    uint64_t token;
    int status;

    if (!is_ready())
        return 0;
    token = embed_on_release(lock, EMBED_LOCK_READ, FRAME);
    status = real.rwlock_unlock(lock);
    if (token != 0)
        embed_on_released(token, FRAME);
    return status;
}

/* The mutex of a condition is given up within the call. */
static void
tell_release(pthread_mutex_t *mutex, const void *frame)
{
    const uint64_t token = embed_on_release(mutex, EMBED_LOCK_MUTEX, frame);

    if (token != 0)
        embed_on_released(token, frame);
}

/*
 * A thread cancelled while it waits never comes back here: its wait is not
 * logged, and as a condition registers nothing, nothing is left behind.
 */
EMBED_HOOK int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct embed_wait wait;
    bool is_told;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.cond_wait(cond, mutex);
    is_told = embed_on_wait(&wait, cond, false, FRAME);
    tell_release(mutex, FRAME);
    status = real.cond_wait(cond, mutex);
    if (is_told)
        embed_on_waited(&wait, EMBED_LOCK_COND, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       const struct timespec *until)
{
    struct embed_wait wait;
    bool is_told;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.cond_timedwait(cond, mutex, until);
    is_told = embed_on_wait(&wait, cond, false, FRAME);
    tell_release(mutex, FRAME);
    status = real.cond_timedwait(cond, mutex, until);
    if (is_told)
        embed_on_waited(&wait, EMBED_LOCK_COND, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       clockid_t clock, const struct timespec *until)
{
    struct embed_wait wait;
    bool is_told;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.cond_clockwait(cond, mutex, clock, until);
    is_told = embed_on_wait(&wait, cond, false, FRAME);
    tell_release(mutex, FRAME);
    status = real.cond_clockwait(cond, mutex, clock, until);
    if (is_told)
        embed_on_waited(&wait, EMBED_LOCK_COND, status, FRAME);
    return status;
}

/* What was learned of its code is not true of what may come in its place. */
EMBED_HOOK int
dlclose(void *library)
{
    int status;

    if (!is_ready())
        return 0;
    status = real.close_library(library);
    embed_on_unload();
    return status;
}
