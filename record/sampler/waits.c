/*
 * waits.c -- records waits for locks, for the thread that waits and for the
 * thread that held the lock.
 *
 * A waiter registers its lock in a table. So a thread that unlocks knows by one
 * load whether any thread waits (embed_awaited), and by another load whether
 * one waits for this lock. The time waited is charged to the holder after it
 * unlocks (mutex profile), and to the waiter (block profile). If two locks
 * share a slot, the later one is not registered, and that is counted.
 */
#include <errno.h>
#include <sys/single_threaded.h>

#include "prof/port.h"
#include "record/sampler/profiler.h"
#include "record/preload/stack.h"
#include "record/unwind/unwind.h"

#define SLOTS_LOG2 10u

struct slot {
    _Atomic uintptr_t lock; /* 0: free */
    uint32_t waiters;       /* all below: guarded by `guard` */
    uint64_t first_ns;      /* when the current first waiter began, or when a
                               holder was charged last */
    uint64_t last_ns;       /* the same for the last waiter */
};

static struct slot slots[1u << SLOTS_LOG2];
static _Atomic uint64_t forks; /* generations of forks before this process */
static struct prof_port_lock guard;

static struct slot *
slot_of(uintptr_t lock)
{
    return &slots[lock * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOTS_LOG2)];
}

/* returns: false if the slot is another lock's */
static bool
register_waiter(uintptr_t lock, uint64_t now_ns)
{
    struct slot *const slot = slot_of(lock);
    uintptr_t held;

    prof_port_lock_take(&guard);
    held = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    if (held == 0 || held == lock) {
        if (slot->waiters++ == 0) {
            slot->first_ns = now_ns;
            atomic_fetch_add_explicit(&embed_awaited, 1, memory_order_relaxed);
        }
        slot->last_ns = now_ns;
        atomic_store_explicit(&slot->lock, lock, memory_order_relaxed);
    }
    prof_port_lock_release(&guard);
    return held == 0 || held == lock;
}

static void
unregister_waiter(uintptr_t lock)
{
    struct slot *const slot = slot_of(lock);

    prof_port_lock_take(&guard);
    if (slot->waiters > 0 && --slot->waiters == 0) {
        atomic_store_explicit(&slot->lock, 0, memory_order_relaxed);
        atomic_fetch_sub_explicit(&embed_awaited, 1, memory_order_relaxed);
    }
    prof_port_lock_release(&guard);
}

/* Record an event with the stack of the interposed function's caller. */
static void
record(enum prof_contention kind, uint64_t ticks, const void *frame)
{
    struct embed_stack *const stack = embed_stack_borrow();
    struct prof_proc *proc = profile_thread.proc;
    uint32_t index;

    embed_stack_take(stack, frame, &profile_thread.stack);
    proc = proc != NULL ? proc : profile_proc_borrow(&index);
    prof_contention_event(proc, kind, stack->pcs, stack->depth, (int64_t)ticks);
    if (profile_thread.proc == NULL)
        profile_proc_return(index);
    embed_stack_return(stack);
}

bool
embed_on_wait(struct embed_wait *wait, const void *lock, bool has_releaser,
              const void *frame)
{
    const int saved_errno = errno;

    (void)frame;
    if (!profile_is_on() || !has_releaser)
        return false; /* a condition has no holder */
    embed_inside = true;
    wait->lock = (uintptr_t)lock;
    wait->start_ticks = prof_port_now_ns();
    wait->stack = atomic_load_explicit(&forks, memory_order_relaxed);
    wait->registered = register_waiter(wait->lock, wait->start_ticks);
    if (!wait->registered)
        atomic_fetch_add_explicit(&profile.losses.waits, 1,
                                  memory_order_relaxed);
    embed_inside = false;
    errno = saved_errno;
    return true;
}

void
embed_on_waited(const struct embed_wait *wait, enum embed_lock_kind kind,
                int status, const void *frame)
{
    const int saved_errno = errno;

    (void)kind;
    (void)status;
    embed_inside = true;
    /* A handler may have forked meanwhile: then nobody is registered. */
    if (wait->registered &&
        wait->stack == atomic_load_explicit(&forks, memory_order_relaxed))
        unregister_waiter(wait->lock);
    if (profile.config.block_rate_ns > 0)
        record(PROF_BLOCK, prof_port_now_ns() - wait->start_ticks, frame);
    embed_inside = false;
    errno = saved_errno;
}

/* returns: the ticks to charge, 0 if no thread waits */
static __attribute__((noinline)) uint64_t
release(uintptr_t lock, struct slot *slot)
{
    const int saved_errno = errno;
    uint64_t ticks = 0;

    embed_inside = true;
    prof_port_lock_take(&guard);
    /* Those who waited may have gone, and the slot be another lock's. */
    if (atomic_load_explicit(&slot->lock, memory_order_relaxed) == lock) {
        const uint64_t now_ns = prof_port_now_ns();

        ticks = (uint64_t)prof_mutex_cycles(
            profile.prof, (int64_t)(now_ns - slot->first_ns),
            (int64_t)(now_ns - slot->last_ns), slot->waiters - 1);
        slot->first_ns = now_ns;
        slot->last_ns = now_ns;
    }
    prof_port_lock_release(&guard);
    embed_inside = false;
    errno = saved_errno;
    return ticks;
}

uint64_t
embed_on_release(const void *lock, enum embed_lock_kind kind, const void *frame)
{
    struct slot *const slot = slot_of((uintptr_t)lock);

    (void)kind;
    (void)frame;
    if (atomic_load_explicit(&slot->lock, memory_order_relaxed) !=
            (uintptr_t)lock ||
        embed_inside || profile.config.mutex_fraction == 0)
        return 0;
    return release((uintptr_t)lock, slot);
}

void
embed_on_released(uint64_t token, const void *frame)
{
    const int saved_errno = errno;

    embed_inside = true;
    record(PROF_MUTEX, token, frame);
    embed_inside = false;
    errno = saved_errno;
}

void
embed_on_unload(void)
{
    embed_unwind_forget();
}

/*
 * A program with one thread never waits for itself, so the mutex profile has
 * nothing to charge. It may wait for another process; only the block profile
 * shows that.
 */
static void
begin_alone(void)
{
    if (profile.config.block_rate_ns == 0)
        embed_alone_begin();
}

void
profile_waits_start(void)
{
    if (__libc_single_threaded)
        begin_alone();
}

void
profile_waits_after_fork_child(void)
{
    atomic_store_explicit(&embed_awaited, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
    begin_alone();
    for (uint32_t i = 0; i < 1u << SLOTS_LOG2; i++) {
        slots[i].waiters = 0;
        atomic_store_explicit(&slots[i].lock, 0, memory_order_relaxed);
    }
    prof_port_lock_reset(&guard);
}
