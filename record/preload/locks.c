/*
 * locks.c -- waits for locks that really blocked, interposed.
 *
 * A hook first tries the lock, and reports a wait only if that fails. It
 * reports a release only while some thread waits for some lock. While the
 * program has one thread (hooks.h), mutexes go straight to the real functions.
 */
#include "record/preload/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static int lock_before(pthread_mutex_t *mutex);
static int trylock_before(pthread_mutex_t *mutex);
static int unlock_before(pthread_mutex_t *mutex);

static struct {
    int (*mutex_lock)(pthread_mutex_t *);
    int (*mutex_trylock)(pthread_mutex_t *);
    int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mutex_clocklock)(pthread_mutex_t *, clockid_t,
                           const struct timespec *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*read_lock)(pthread_rwlock_t *);
    int (*read_trylock)(pthread_rwlock_t *);
    int (*read_timedlock)(pthread_rwlock_t *, const struct timespec *);
    int (*read_clocklock)(pthread_rwlock_t *, clockid_t,
                          const struct timespec *);
    int (*write_lock)(pthread_rwlock_t *);
    int (*write_trylock)(pthread_rwlock_t *);
    int (*write_timedlock)(pthread_rwlock_t *, const struct timespec *);
    int (*write_clocklock)(pthread_rwlock_t *, clockid_t,
                           const struct timespec *);
    int (*rwlock_unlock)(pthread_rwlock_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *,
                          const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                          const struct timespec *);
    int (*sem_wait)(sem_t *);
    int (*sem_trywait)(sem_t *);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
    int (*close_library)(void *);
    _Atomic bool ready;
} real = {.mutex_lock = lock_before,
          .mutex_trylock = trylock_before,
          .mutex_unlock = unlock_before};

/*
 * The functions that the hooks of a mutex jump to: while the program has one
 * thread (embed_alone_begin()), the real ones, else the two below. So with one
 * thread a hook costs only a load and a jump.
 */
static int lock_recorded(pthread_mutex_t *mutex);
static int unlock_recorded(pthread_mutex_t *mutex);

static struct {
    _Atomic(int (*)(pthread_mutex_t *)) lock;
    _Atomic(int (*)(pthread_mutex_t *)) unlock;
} way = {lock_recorded, unlock_recorded};

_Atomic uint32_t embed_awaited;

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
    embed_resolve(&real.mutex_timedlock, "pthread_mutex_timedlock", NULL);
    embed_resolve(&real.mutex_clocklock, "pthread_mutex_clocklock", NULL);
    embed_resolve(&real.read_timedlock, "pthread_rwlock_timedrdlock", NULL);
    embed_resolve(&real.read_clocklock, "pthread_rwlock_clockrdlock", NULL);
    embed_resolve(&real.write_timedlock, "pthread_rwlock_timedwrlock", NULL);
    embed_resolve(&real.write_clocklock, "pthread_rwlock_clockwrlock", NULL);
    embed_resolve(&real.sem_wait, "sem_wait", NULL);
    embed_resolve(&real.sem_trywait, "sem_trywait", NULL);
    embed_resolve(&real.sem_timedwait, "sem_timedwait", NULL);
    embed_resolve(&real.sem_clockwait, "sem_clockwait", NULL);
    embed_resolve(&real.close_library, "dlclose", NULL);
    atomic_store_explicit(&real.ready, true, memory_order_release);
}

/* returns: are the real functions known? If not, main has not begun. Then there
 * is only one thread, so locking may do nothing. */
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

/* Used in place of the real functions until those are known. */
static int
lock_before(pthread_mutex_t *mutex)
{
    return is_ready() ? real.mutex_lock(mutex) : 0;
}

static int
trylock_before(pthread_mutex_t *mutex)
{
    return is_ready() ? real.mutex_trylock(mutex) : 0;
}

static int
unlock_before(pthread_mutex_t *mutex)
{
    return is_ready() ? real.mutex_unlock(mutex) : 0;
}

void
embed_alone_begin(void)
{
    atomic_store_explicit(&way.lock, real.mutex_lock, memory_order_relaxed);
    atomic_store_explicit(&way.unlock, real.mutex_unlock, memory_order_relaxed);
}

void
embed_alone_end(void)
{
    atomic_store_explicit(&way.lock, lock_recorded, memory_order_relaxed);
    atomic_store_explicit(&way.unlock, unlock_recorded, memory_order_relaxed);
}

static bool
is_anybody_waiting(void)
{
    return __builtin_expect(
        atomic_load_explicit(&embed_awaited, memory_order_relaxed) != 0, false);
}

#define FRAME __builtin_frame_address(0)

/*
 * Would libc look at this time at all? It refuses some of these even if the
 * lock is free, and others only if it must wait: then it is not tried here.
 */
static bool
is_good(clockid_t clock, const struct timespec *until)
{
    __asm__("" : "+r"(until)); /* the headers declare that it is not NULL */
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&
           until != NULL && until->tv_nsec >= 0 && until->tv_nsec < 1000000000;
}

/* Take a lock. Report a wait only if the lock is not free at once. */
#define LOCK(lock, kind, is_to_try, tried, call)      \
    do {                                              \
        struct embed_wait wait;                       \
        int status;                                   \
                                                      \
        if (!is_ready())                              \
            return 0;                                 \
        if (embed_inside || !(is_to_try))             \
            return (call);                            \
        status = (tried);                             \
        if (status != EBUSY)                          \
            return status;                            \
        if (!embed_on_wait(&wait, lock, true, FRAME)) \
            return (call);                            \
        status = (call);                              \
        embed_on_waited(&wait, kind, status, FRAME);  \
        return status;                                \
    } while (0)

static __attribute__((noinline)) int
wait_for_mutex(pthread_mutex_t *mutex, const void *frame)
{
    struct embed_wait wait;
    int status;

    if (!embed_on_wait(&wait, mutex, true, frame))
        return real.mutex_lock(mutex);
    status = real.mutex_lock(mutex);
    embed_on_waited(&wait, EMBED_LOCK_MUTEX, status, frame);
    return status;
}

/* Jumped to: its caller is the hook's. */
static int
lock_recorded(pthread_mutex_t *mutex)
{
    int status;

    if (embed_inside)
        return real.mutex_lock(mutex);
    status = real.mutex_trylock(mutex);
    if (status == EBUSY)
        status = wait_for_mutex(mutex, FRAME);
    EMBED_KEEP_FRAME();
    return status;
}

EMBED_HOOK EMBED_JUMPS int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return atomic_load_explicit(&way.lock, memory_order_relaxed)(mutex);
}

EMBED_HOOK int
pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    LOCK(mutex, EMBED_LOCK_MUTEX, is_good(CLOCK_REALTIME, until),
         real.mutex_trylock(mutex), real.mutex_timedlock(mutex, until));
}

EMBED_HOOK int
pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                        const struct timespec *until)
{
    LOCK(mutex, EMBED_LOCK_MUTEX, is_good(clock, until),
         real.mutex_trylock(mutex), real.mutex_clocklock(mutex, clock, until));
}

static __attribute__((noinline)) int
unlock_awaited(pthread_mutex_t *mutex, const void *frame)
{
    const uint64_t token = embed_on_release(mutex, EMBED_LOCK_MUTEX, frame);
    const int status = real.mutex_unlock(mutex);

    if (token != 0)
        embed_on_released(token, frame);
    return status;
}

/* Jumped to: its caller is the hook's. */
static int
unlock_recorded(pthread_mutex_t *mutex)
{
    int status;

    if (!is_anybody_waiting())
        return real.mutex_unlock(mutex);
    status = unlock_awaited(mutex, FRAME);
    EMBED_KEEP_FRAME();
    return status;
}

EMBED_HOOK EMBED_JUMPS int
pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return atomic_load_explicit(&way.unlock, memory_order_relaxed)(mutex);
}

EMBED_HOOK int
pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    LOCK(lock, EMBED_LOCK_READ, true, real.read_trylock(lock),
         real.read_lock(lock));
}

EMBED_HOOK int
pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    LOCK(lock, EMBED_LOCK_READ, is_good(CLOCK_REALTIME, until),
         real.read_trylock(lock), real.read_timedlock(lock, until));
}

EMBED_HOOK int
pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                           const struct timespec *until)
{
    LOCK(lock, EMBED_LOCK_READ, is_good(clock, until), real.read_trylock(lock),
         real.read_clocklock(lock, clock, until));
}

EMBED_HOOK int
pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    LOCK(lock, EMBED_LOCK_WRITE, true, real.write_trylock(lock),
         real.write_lock(lock));
}

EMBED_HOOK int
pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    LOCK(lock, EMBED_LOCK_WRITE, is_good(CLOCK_REALTIME, until),
         real.write_trylock(lock), real.write_timedlock(lock, until));
}

EMBED_HOOK int
pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                           const struct timespec *until)
{
    LOCK(lock, EMBED_LOCK_WRITE, is_good(clock, until),
         real.write_trylock(lock), real.write_clocklock(lock, clock, until));
}

EMBED_HOOK int
pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    uint64_t token;
    int status;

    if (!is_ready())
        return 0;
    if (!is_anybody_waiting())
        return real.rwlock_unlock(lock);
    token = embed_on_release(lock, EMBED_LOCK_READ, FRAME);
    status = real.rwlock_unlock(lock);
    if (token != 0)
        embed_on_released(token, FRAME);
    return status;
}

/* Report that a wait for a condition is about to release its mutex. */
static void
record_release(pthread_mutex_t *mutex, const void *frame)
{
    const uint64_t token =
        is_anybody_waiting() ? embed_on_release(mutex, EMBED_LOCK_MUTEX, frame)
                             : 0;

    if (token != 0)
        embed_on_released(token, frame);
}

/*
 * A thread that is cancelled while it waits never returns to this function, so
 * its wait is not logged. Waits for conditions are not registered in a table,
 * so no entry is left behind.
 */
EMBED_HOOK int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct embed_wait wait;
    bool is_recorded;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.cond_wait(cond, mutex);
    is_recorded = embed_on_wait(&wait, cond, false, FRAME);
    record_release(mutex, FRAME);
    status = real.cond_wait(cond, mutex);
    if (is_recorded)
        embed_on_waited(&wait, EMBED_LOCK_COND, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       const struct timespec *until)
{
    struct embed_wait wait;
    bool is_recorded;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.cond_timedwait(cond, mutex, until);
    is_recorded = embed_on_wait(&wait, cond, false, FRAME);
    record_release(mutex, FRAME);
    status = real.cond_timedwait(cond, mutex, until);
    if (is_recorded)
        embed_on_waited(&wait, EMBED_LOCK_COND, status, FRAME);
    return status;
}

EMBED_HOOK int
pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       clockid_t clock, const struct timespec *until)
{
    struct embed_wait wait;
    bool is_recorded;
    int status;

    if (!is_ready())
        return 0;
    if (embed_inside)
        return real.cond_clockwait(cond, mutex, clock, until);
    is_recorded = embed_on_wait(&wait, cond, false, FRAME);
    record_release(mutex, FRAME);
    status = real.cond_clockwait(cond, mutex, clock, until);
    if (is_recorded)
        embed_on_waited(&wait, EMBED_LOCK_COND, status, FRAME);
    return status;
}

/*
 * A semaphore has no holder. As with a condition, the waiter is not registered,
 * because it may be cancelled while it waits. A wait with a limit is tried with
 * one in the past: whether it is a cancellation point even if the semaphore is
 * free differs between the functions of libc. A call that succeeds leaves errno
 * alone.
 */
#define SEM_WAIT(semaphore, is_to_try, tried, in_vain, call)         \
    do {                                                             \
        const int saved_errno = errno;                               \
        struct embed_wait wait;                                      \
        int status;                                                  \
                                                                     \
        if (!is_ready())                                             \
            return 0;                                                \
        if (embed_inside || !(is_to_try))                            \
            return (call);                                           \
        if ((tried) == 0)                                            \
            return 0;                                                \
        status = errno;                                              \
        errno = saved_errno;                                         \
        if (status != (in_vain) ||                                   \
            !embed_on_wait(&wait, semaphore, false, FRAME))          \
            return (call);                                           \
        status = (call);                                             \
        embed_on_waited(&wait, EMBED_LOCK_SEMAPHORE, status, FRAME); \
        return status;                                               \
    } while (0)

static const struct timespec past = {0, 0};

EMBED_HOOK int
sem_wait(sem_t *semaphore)
{
    SEM_WAIT(semaphore, true,
             (pthread_testcancel(), real.sem_trywait(semaphore)), EAGAIN,
             real.sem_wait(semaphore));
}

EMBED_HOOK int
sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    SEM_WAIT(semaphore, is_good(CLOCK_REALTIME, until),
             real.sem_timedwait(semaphore, &past), ETIMEDOUT,
             real.sem_timedwait(semaphore, until));
}

EMBED_HOOK int
sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    SEM_WAIT(semaphore, is_good(clock, until),
             real.sem_clockwait(semaphore, clock, &past), ETIMEDOUT,
             real.sem_clockwait(semaphore, clock, until));
}

/*
 * Another library may be mapped where this one was, so all that is remembered
 * about its code must be forgotten. If the library stays mapped, because it is
 * open elsewhere, nothing changes.
 */
EMBED_HOOK int
dlclose(void *library)
{
    struct dl_find_object found;
    struct link_map *map = NULL;
    void *place = NULL;
    int status;

    if (!is_ready())
        return 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        place = map->l_ld;
    status = real.close_library(library);
    if (place == NULL || _dl_find_object(place, &found) != 0)
        embed_on_unload();
    return status;
}
