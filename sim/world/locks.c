/*
 * locks.c -- the locks of locks.h, with one list of waiters for all of them.
 *
 *      waiters   [t3 mutex 0][t1 channel 2][t5 mutex 0][t2 mutex 0, shares]
 *                   head of mutex 0            next        last
 *
 * Charging (as in Go since it has a mutex profile): a release is charged with
 * the time that the first waiter has waited, and the next waiter's time starts
 * again from zero. So each moment of waiting is charged once, however many
 * tasks wait.
 *
 * Invariants
 *   I1  A task waits at most once.
 *   I2  A mutex has one exclusive holder, or any number of sharing holders.
 *   I3  A task waits for a lock that it could take only if others queued before
 *       it.
 *   I4  Senders wait only while a channel is full, receivers while it is empty.
 */
#include "sim/world/locks.h"

#include <string.h>

void
sim_locks_reset(struct sim_locks *locks)
{
    locks->waiters_count = 0;
    locks->holders_count = 0;
    locks->wakes_count = 0;
    locks->waits = false;
    for (uint32_t i = 0; i < SIM_LOCKS_MAX; i++) {
        locks->units[i] = i % 3;
        locks->items[i] = 0;
    }
}

bool
sim_locks_waiting(const struct sim_locks *locks, uint32_t task)
{
    for (uint32_t i = 0; i < locks->waiters_count; i++) {
        if (locks->waiters[i].task == task)
            return true;
    }
    return false;
}

/* ---- holders ---- */

/* The holder; holders_count if there is none. */
static uint32_t
holder_find(const struct sim_locks *locks, uint32_t task, uint32_t lock,
            bool shares)
{
    uint32_t i = 0;

    while (i < locks->holders_count &&
           (locks->holders[i].task != task || locks->holders[i].lock != lock ||
            locks->holders[i].shares != shares))
        i++;
    return i;
}

bool
sim_locks_holding(const struct sim_locks *locks, uint32_t task, uint32_t lock,
                  bool shares)
{
    return holder_find(locks, task, lock, shares) < locks->holders_count;
}

/* Do the current holders of the mutex admit another one (I2)? */
static bool
can_have(const struct sim_locks *locks, uint32_t lock, bool shares)
{
    for (uint32_t i = 0; i < locks->holders_count; i++) {
        if (locks->holders[i].lock == lock &&
            !(shares && locks->holders[i].shares))
            return false;
    }
    return true;
}

static void
hold(struct sim_locks *locks, uint32_t task, uint32_t lock, bool shares)
{
    locks->holders[locks->holders_count++] =
        (struct sim_holder){lock, task, shares};
}

/* ---- waiters ---- */

/* returns: index of the first waiter for the lock, from index `from` on;
 * waiters_count if there is none */
static uint32_t
waiter_find(const struct sim_locks *locks, enum sim_lock_kind kind,
            uint32_t lock, uint32_t from)
{
    uint32_t i = from;

    while (i < locks->waiters_count &&
           (locks->waiters[i].kind != kind || locks->waiters[i].lock != lock))
        i++;
    return i;
}

static const char *
wait_for(struct sim_locks *locks, const struct sim_event *event,
         enum sim_lock_kind kind, bool shares, int64_t now_ticks)
{
    if (locks->waiters_count == SIM_WAITERS_MAX)
        return "too many tasks wait";
    locks->waiters[locks->waiters_count++] = (struct sim_waiter){
        .kind = kind,
        .lock = event->lock,
        .shares = shares,
        .task = event->task,
        .stack = event->stack,
        .began_ticks = now_ticks,
        .since_ticks = now_ticks,
    };
    locks->waits = true;
    return NULL;
}

/* Wake the waiter at index `at`. */
static void
wake(struct sim_locks *locks, uint32_t at, int64_t now_ticks)
{
    struct sim_wake *woken = &locks->wakes[locks->wakes_count++];
    uint32_t next;

    woken->waiter = locks->waiters[at];
    woken->others = 0;
    locks->waiters_count--;
    memmove(&locks->waiters[at], &locks->waiters[at + 1],
            (locks->waiters_count - at) * sizeof *locks->waiters);
    next = waiter_find(locks, woken->waiter.kind, woken->waiter.lock, 0);
    for (uint32_t i = next; i < locks->waiters_count;
         i = waiter_find(locks, woken->waiter.kind, woken->waiter.lock,
                         i + 1)) {
        woken->last_since_ticks = locks->waiters[i].since_ticks;
        woken->others++;
    }
    if (next < locks->waiters_count)
        locks->waiters[next].since_ticks = now_ticks;
}

const struct sim_waiter *
sim_locks_first(const struct sim_locks *locks, enum sim_lock_kind kind,
                uint32_t lock)
{
    const uint32_t first = waiter_find(locks, kind, lock, 0);

    return first < locks->waiters_count ? &locks->waiters[first] : NULL;
}

/* Wake the first waiter. returns: false if there is none */
static bool
wake_first(struct sim_locks *locks, enum sim_lock_kind kind, uint32_t lock,
           int64_t now_ticks)
{
    const uint32_t first = waiter_find(locks, kind, lock, 0);

    if (first == locks->waiters_count)
        return false;
    wake(locks, first, now_ticks);
    return true;
}

/* ---- mutexes ---- */

static const char *
take(struct sim_locks *locks, const struct sim_event *event, bool shares,
     int64_t now_ticks)
{
    const uint32_t lock = event->lock;

    if (sim_locks_holding(locks, event->task, lock, false) ||
        sim_locks_holding(locks, event->task, lock, true))
        return "the task holds the lock already";
    if (locks->holders_count + locks->waiters_count >= SIM_HOLDERS_MAX)
        return "too many locks are held";
    if (!can_have(locks, lock, shares) ||
        waiter_find(locks, SIM_LOCK_MUTEX, lock, 0) < locks->waiters_count)
        return wait_for(locks, event, SIM_LOCK_MUTEX, shares, now_ticks);
    hold(locks, event->task, lock, shares);
    return NULL;
}

static const char *
give_back(struct sim_locks *locks, const struct sim_event *event, bool shares,
          int64_t now_ticks)
{
    const uint32_t lock = event->lock;
    const uint32_t at = holder_find(locks, event->task, lock, shares);
    uint32_t first;

    if (at == locks->holders_count)
        return "the task does not hold the lock";
    locks->holders[at] = locks->holders[--locks->holders_count];
    for (first = waiter_find(locks, SIM_LOCK_MUTEX, lock, 0);
         first < locks->waiters_count &&
         can_have(locks, lock, locks->waiters[first].shares);
         first = waiter_find(locks, SIM_LOCK_MUTEX, lock, 0)) {
        hold(locks, locks->waiters[first].task, lock,
             locks->waiters[first].shares);
        wake(locks, first, now_ticks);
    }
    return NULL;
}

/* ---- the other kinds ---- */

static const char *
acquire(struct sim_locks *locks, const struct sim_event *event,
        int64_t now_ticks)
{
    if (locks->units[event->lock] == 0) /* else nobody waits (I3) */
        return wait_for(locks, event, SIM_LOCK_SEMAPHORE, false, now_ticks);
    locks->units[event->lock]--;
    return NULL;
}

static const char *
release(struct sim_locks *locks, const struct sim_event *event,
        int64_t now_ticks)
{
    if (!wake_first(locks, SIM_LOCK_SEMAPHORE, event->lock, now_ticks))
        locks->units[event->lock]++;
    return NULL;
}

/* Does a task wait to receive from the channel (or to send)? */
static bool
other_side_waits(const struct sim_locks *locks, uint32_t lock, bool receives)
{
    const uint32_t first = waiter_find(locks, SIM_LOCK_CHANNEL, lock, 0);

    return first < locks->waiters_count &&
           locks->waiters[first].shares == receives;
}

static const char *
send_item(struct sim_locks *locks, const struct sim_event *event,
          int64_t now_ticks)
{
    const uint32_t lock = event->lock;

    if (other_side_waits(locks, lock, true))
        (void)wake_first(locks, SIM_LOCK_CHANNEL, lock, now_ticks);
    else if (locks->items[lock] < lock % 3)
        locks->items[lock]++;
    else
        return wait_for(locks, event, SIM_LOCK_CHANNEL, false, now_ticks);
    return NULL;
}

static const char *
receive_item(struct sim_locks *locks, const struct sim_event *event,
             int64_t now_ticks)
{
    const uint32_t lock = event->lock;

    /* The item of a waiting sender replaces the one taken. */
    if (other_side_waits(locks, lock, false))
        (void)wake_first(locks, SIM_LOCK_CHANNEL, lock, now_ticks);
    else if (locks->items[lock] > 0)
        locks->items[lock]--;
    else
        return wait_for(locks, event, SIM_LOCK_CHANNEL, true, now_ticks);
    return NULL;
}

/* ---- events ---- */

bool
sim_locks_concern(enum sim_event_kind kind)
{
    return kind >= SIM_EV_LOCK && kind <= SIM_EV_RECEIVE;
}

const char *
sim_locks_apply(struct sim_locks *locks, const struct sim_event *event,
                int64_t now_ticks)
{
    locks->waits = false;
    locks->wakes_count = 0;
    if (event->lock >= SIM_LOCKS_MAX)
        return "there is no such lock";
    if (sim_locks_waiting(locks, event->task))
        return "the task waits"; /* I1 */
    if (event->kind == SIM_EV_LOCK || event->kind == SIM_EV_LOCK_SHARED)
        return take(locks, event, event->kind == SIM_EV_LOCK_SHARED, now_ticks);
    if (event->kind == SIM_EV_UNLOCK || event->kind == SIM_EV_UNLOCK_SHARED)
        return give_back(locks, event, event->kind == SIM_EV_UNLOCK_SHARED,
                         now_ticks);
    if (event->kind == SIM_EV_WAIT)
        return wait_for(locks, event, SIM_LOCK_CONDITION, false, now_ticks);
    if (event->kind == SIM_EV_ACQUIRE)
        return acquire(locks, event, now_ticks);
    if (event->kind == SIM_EV_RELEASE)
        return release(locks, event, now_ticks);
    if (event->kind == SIM_EV_SEND)
        return send_item(locks, event, now_ticks);
    if (event->kind == SIM_EV_RECEIVE)
        return receive_item(locks, event, now_ticks);
    if (event->kind == SIM_EV_SIGNAL) {
        (void)wake_first(locks, SIM_LOCK_CONDITION, event->lock, now_ticks);
        return NULL;
    }
    if (event->kind == SIM_EV_BROADCAST) {
        while (wake_first(locks, SIM_LOCK_CONDITION, event->lock, now_ticks))
            continue; /* bounded by the number of waiters */
        return NULL;
    }
    return "the event is not about locks";
}
