/*
 * threads.c -- a processor of libprof for each thread.
 *
 * A thread gets a processor when it first allocates and gives it back when it
 * exits. The processor's next thread continues its count of bytes until the
 * next sample. That is correct, because the probability that an allocation is
 * sampled does not depend on what was allocated before it, nor by which thread.
 * If there are more threads than processors, the others borrow one for each
 * call.
 */
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "record/sampler/profiler.h"
#include "record/preload/filter.h"

_Thread_local uint64_t embed_until_bytes;
_Thread_local struct profile_thread profile_thread;

static _Atomic uint8_t used[PROFILE_PROCS_OWN];
static _Atomic uint8_t borrowed[PROFILE_PROCS_SHARED];
static pthread_key_t key;
static bool has_key;

static void
give_back(void *context)
{
    const uintptr_t index = (uintptr_t)context - 1;

    profile_until_give();
    profile_thread.proc = NULL;
    profile_thread.is_surplus = true; /* destructors that come now */
    atomic_store_explicit(&used[index], 0, memory_order_release);
}

void
profile_until_give(void)
{
    if (embed_until_bytes != 0 && !profile_thread.is_off)
        prof_heap_until_give(profile_thread.proc, embed_until_bytes);
    embed_until_bytes = 0;
}

void
profile_threads_start(void)
{
    has_key = pthread_key_create(&key, give_back) == 0;
}

void
profile_thread_begin(void)
{
    if (profile_is_confined() || syscall(SYS_gettid) != getpid())
        embed_alone_end();
    for (uint32_t i = 0; has_key && i < PROFILE_PROCS_OWN; i++) {
        uint8_t nobody = 0;

        if (atomic_load_explicit(&used[i], memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong_explicit(&used[i], &nobody, 1,
                                                     memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        if (pthread_setspecific(key, (void *)(uintptr_t)(i + 1)) == 0) {
            profile_thread.proc = prof_proc_at(profile.prof, i);
            return;
        }
        atomic_store_explicit(&used[i], 0, memory_order_release);
        break;
    }
    profile_thread.is_surplus = true;
}

struct prof_proc *
profile_proc_borrow(uint32_t *index)
{
    for (uint32_t i = 0;; i = (i + 1) % PROFILE_PROCS_SHARED) {
        if (atomic_exchange_explicit(&borrowed[i], 1, memory_order_acquire) ==
            0) {
            *index = i;
            return prof_proc_at(profile.prof, PROFILE_PROCS_OWN + i);
        }
        if (i == PROFILE_PROCS_SHARED - 1)
            sched_yield();
    }
}

void
profile_proc_return(uint32_t index)
{
    atomic_store_explicit(&borrowed[index], 0, memory_order_release);
}

/* The other threads are gone; their processors are free. */
bool
profile_threads_after_fork_child(void)
{
    bool had_others = false;

    for (uint32_t i = 0; i < PROFILE_PROCS_OWN; i++) {
        const bool is_own =
            prof_proc_at(profile.prof, i) == profile_thread.proc;

        if (atomic_load_explicit(&used[i], memory_order_relaxed) != 0 &&
            !is_own)
            had_others = true;
        atomic_store_explicit(&used[i], is_own, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < PROFILE_PROCS_SHARED; i++) {
        if (atomic_load_explicit(&borrowed[i], memory_order_relaxed) != 0)
            had_others = true;
        atomic_store_explicit(&borrowed[i], 0, memory_order_relaxed);
    }
    return had_others;
}

/* ------------------------------------------------------------ a second thread
 *
 * While the program has one thread and no block profile, its mutex hooks go
 * straight to libc (embed_alone_begin()). That ends here, before a second
 * thread can hold a lock: in each call that makes a thread, also those in which
 * libc makes it, for a timer or a message queue. A thread made by clone()
 * itself is noticed only when it first allocates. */

static struct {
    int (*pthread_create)(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*timer_create)(clockid_t, struct sigevent *, timer_t *);
    int (*mq_notify)(mqd_t, const struct sigevent *);
} real;

void
profile_threads_resolve(void)
{
    embed_resolve(&real.pthread_create, "pthread_create", NULL);
    embed_resolve(&real.thrd_create, "thrd_create", NULL);
    embed_resolve(&real.timer_create, "timer_create", NULL);
    embed_resolve(&real.mq_notify, "mq_notify", NULL);
}

static void
expect_thread(void)
{
    const bool inside = embed_inside;

    if (!inside) /* the agent's thread does not count */
        embed_alone_end();
    if (real.pthread_create != NULL)
        return;
    embed_inside = true;
    profile_threads_resolve();
    embed_inside = inside;
}

EMBED_HOOK int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*run)(void *), void *context)
{
    expect_thread();
    return real.pthread_create(thread, attributes, run, context);
}

EMBED_HOOK int
thrd_create(thrd_t *thread, thrd_start_t run, void *context)
{
    expect_thread();
    return real.thrd_create(thread, run, context);
}

EMBED_HOOK int
timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    expect_thread();
    return real.timer_create(clock, event, timer);
}

EMBED_HOOK int
mq_notify(mqd_t queue, const struct sigevent *event)
{
    expect_thread();
    return real.mq_notify(queue, event);
}
