/*
 * locks.c -- waits for locks that really blocked, and who ended them.
 *
 * A lock is tried first; only when that fails is there anything to log. The
 * stack of a waiter is taken before it blocks: taken afterwards, it would
 * lengthen the time the lock is held, and so change what is measured.
 *
 * A waiter for a mutex or a read-write lock registers it in a small table, so
 * that a release costs one load to know whether somebody waits. Two locks that
 * fall on one slot: the later is not registered, and counted.
 */
#include "recorder.h"

#include "unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

struct wait {
    uint64_t stack; /* offset of its record */
    uintptr_t lock;
    uint64_t start_ticks;
    bool registered;
};

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
    bool inside = embed_self.inside;

    if (atomic_load_explicit(&real.ready, memory_order_acquire))
        return true;
    if (inside)
        return false;
    embed_self.inside = true;
    embed_locks_resolve();
    embed_self.inside = inside;
    return true;
}

static struct embed_waiter *
waiter_of(uintptr_t lock)
{
    uint64_t hash = lock * UINT64_C(0x9e3779b97f4a7c15);

    return &embed_state->waiters[hash >> 52 & (EMBED_WAITERS - 1)];
}

static bool
register_waiter(uintptr_t lock)
{
    struct embed_waiter *waiter = waiter_of(lock);
    uintptr_t held;

    embed_lock();
    held = atomic_load_explicit(&waiter->lock, memory_order_relaxed);
    if (held == 0 || held == lock) {
        waiter->count++;
        atomic_store_explicit(&waiter->lock, lock, memory_order_relaxed);
    }
    embed_unlock();
    if (held == 0 || held == lock)
        return true;
    embed_drop(EMBED_DROP_WAITERS);
    return false;
}

static void
unregister_waiter(uintptr_t lock)
{
    struct embed_waiter *waiter = waiter_of(lock);

    embed_lock();
    if (waiter->count > 0 && --waiter->count == 0)
        atomic_store_explicit(&waiter->lock, 0, memory_order_relaxed);
    embed_unlock();
}

static bool
is_awaited(const void *lock)
{
    return embed_state != NULL &&
           atomic_load_explicit(&waiter_of((uintptr_t)lock)->lock,
                                memory_order_relaxed) == (uintptr_t)lock;
}

/* returns: false if this wait is not to be logged */
static bool
wait_begin(struct wait *wait, const void *lock, bool has_releaser,
           const void *frame)
{
    int saved_errno = errno;
    struct embed_stack *stack;

    if (!embed_enter())
        return false;
    wait->lock = (uintptr_t)lock;
    wait->start_ticks = embed_ticks();
    stack = embed_stack_borrow();
    embed_stack_take(stack, frame, &embed_self.stack);
    wait->stack = embed_log_stack(stack);
    embed_stack_return(stack);
    wait->registered = has_releaser && register_waiter(wait->lock);
    embed_leave();
    errno = saved_errno;
    return true;
}

static void
wait_end(const struct wait *wait, enum embed_lock_kind kind, int status)
{
    uint64_t words[4] = {0, wait->lock, wait->start_ticks, wait->stack};
    uint32_t detail = (uint32_t)kind;
    int saved_errno = errno;

    if (!embed_enter())
        return;
    if (wait->registered)
        unregister_waiter(wait->lock);
    if (status != 0 && status != EOWNERDEAD)
        detail |= 0x80;
    embed_log(EMBED_WAIT, detail, words, 4, NULL);
    embed_leave();
    errno = saved_errno;
}

static void
log_release(const void *lock, enum embed_lock_kind kind, const void *frame)
{
    uint64_t words[3] = {0, (uintptr_t)lock, 0};
    int saved_errno = errno;
    struct embed_stack *stack;

    if (embed_self.inside || !is_awaited(lock) || !embed_enter())
        return;
    stack = embed_stack_borrow();
    embed_stack_take(stack, frame, &embed_self.stack);
    embed_log(EMBED_RELEASE, (uint32_t)kind, words, 3, stack);
    embed_stack_return(stack);
    embed_leave();
    errno = saved_errno;
}

#define FRAME __builtin_frame_address(0)

EMBED_HOOK int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_self.inside)
        return real.mutex_lock(mutex);
    status = real.mutex_trylock(mutex);
    if (status != EBUSY)
        return status;
    if (!wait_begin(&wait, mutex, true, FRAME))
        return real.mutex_lock(mutex);
    status = real.mutex_lock(mutex);
    wait_end(&wait, EMBED_LOCK_MUTEX, status);
    return status;
}

EMBED_HOOK int
pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!is_ready())
        return 0;
    log_release(mutex, EMBED_LOCK_MUTEX, FRAME);
    return real.mutex_unlock(mutex);
}

EMBED_HOOK int
pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    struct wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_self.inside)
        return real.read_lock(lock);
    status = real.read_trylock(lock);
    if (status != EBUSY)
        return status;
    if (!wait_begin(&wait, lock, true, FRAME))
        return real.read_lock(lock);
    status = real.read_lock(lock);
    wait_end(&wait, EMBED_LOCK_READ, status);
    return status;
}

EMBED_HOOK int
pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    struct wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_self.inside)
        return real.write_lock(lock);
    status = real.write_trylock(lock);
    if (status != EBUSY)
        return status;
    if (!wait_begin(&wait, lock, true, FRAME))
        return real.write_lock(lock);
    status = real.write_lock(lock);
    wait_end(&wait, EMBED_LOCK_WRITE, status);
    return status;
}

EMBED_HOOK int
pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (!is_ready())
        return 0;
    log_release(lock, EMBED_LOCK_READ, FRAME);
    return real.rwlock_unlock(lock);
}

/*
 * A thread cancelled while it waits never comes back here: its wait is not
 * logged, and as a condition registers nothing, nothing is left behind.
 */
EMBED_HOOK int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_self.inside || !wait_begin(&wait, cond, false, FRAME))
        return real.cond_wait(cond, mutex);
    log_release(mutex, EMBED_LOCK_MUTEX, FRAME);
    status = real.cond_wait(cond, mutex);
    wait_end(&wait, EMBED_LOCK_COND, status);
    return status;
}

EMBED_HOOK int
pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       const struct timespec *until)
{
    struct wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_self.inside || !wait_begin(&wait, cond, false, FRAME))
        return real.cond_timedwait(cond, mutex, until);
    log_release(mutex, EMBED_LOCK_MUTEX, FRAME);
    status = real.cond_timedwait(cond, mutex, until);
    wait_end(&wait, EMBED_LOCK_COND, status);
    return status;
}

EMBED_HOOK int
pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       clockid_t clock, const struct timespec *until)
{
    struct wait wait;
    int status;

    if (!is_ready())
        return 0;
    if (embed_self.inside || !wait_begin(&wait, cond, false, FRAME))
        return real.cond_clockwait(cond, mutex, clock, until);
    log_release(mutex, EMBED_LOCK_MUTEX, FRAME);
    status = real.cond_clockwait(cond, mutex, clock, until);
    wait_end(&wait, EMBED_LOCK_COND, status);
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
    embed_unwind_forget();
    return status;
}
