/*
 * locks.h -- simulated locks with queues of waiting tasks. So contention
 * follows from the order in which tasks run; no generator invents it.
 *
 * There are four kinds, each numbered from 0: mutexes (which readers may
 * share), conditions, semaphores and channels. Semaphore n begins with n mod 3
 * units; channel n has room for n mod 3 items. All queues are first in, first
 * out, and a release hands the lock to the first waiter: a task that wakes up
 * owns what it waited for.
 */
#ifndef SIM_WORLD_LOCKS_H
#define SIM_WORLD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world/event.h"

enum {
    SIM_LOCKS_MAX = 16,   /* of each kind */
    SIM_WAITERS_MAX = 64, /* tasks that wait at one time */
    SIM_HOLDERS_MAX = 64
};

enum sim_lock_kind {
    SIM_LOCK_MUTEX,
    SIM_LOCK_CONDITION,
    SIM_LOCK_SEMAPHORE,
    SIM_LOCK_CHANNEL
};

struct sim_waiter {
    enum sim_lock_kind kind;
    uint32_t lock;
    bool shares; /* a reader of a mutex; a receiver of a channel */
    uint32_t task;
    uint32_t stack;      /* where it waits */
    int64_t began_ticks; /* by its own processor's clock */
    int64_t
        since_ticks; /* its wait since then is not yet charged to a release */
};

/* A task that was woken, and the time charged to its release. */
struct sim_wake {
    struct sim_waiter waiter;
    int64_t
        last_since_ticks; /* since_ticks of the latest waiter, if others > 0 */
    uint32_t others;      /* tasks that still wait for the same lock */
};

struct sim_holder {
    uint32_t lock;
    uint32_t task;
    bool shares;
};

struct sim_locks {
    struct sim_waiter waiters[SIM_WAITERS_MAX]; /* in order of arrival */
    struct sim_holder holders[SIM_HOLDERS_MAX]; /* of mutexes */
    uint32_t waiters_count;
    uint32_t holders_count;
    uint32_t units[SIM_LOCKS_MAX]; /* of semaphores */
    uint32_t items[SIM_LOCKS_MAX]; /* in channels */

    /* The effect of the last event. */
    bool waits; /* the task waits now, last in `waiters` */
    struct sim_wake wakes[SIM_WAITERS_MAX];
    uint32_t wakes_count;
};

/* No task holds anything, and none waits. */
void sim_locks_reset(struct sim_locks *locks);

/* returns: is it an event about locks? */
bool sim_locks_concern(enum sim_event_kind kind);

/*
 * Apply a task's lock event.
 *
 * out:     waits, wakes of *locks
 * in:      now_ticks, by the clock of the task's processor
 * returns: NULL, or why it is impossible (static text); then nothing has
 *          changed
 */
const char *sim_locks_apply(struct sim_locks *locks,
                            const struct sim_event *event, int64_t now_ticks);

/* returns: the first task that waits for a lock, NULL if none does */
const struct sim_waiter *sim_locks_first(const struct sim_locks *locks,
                                         enum sim_lock_kind kind,
                                         uint32_t lock);

bool sim_locks_waiting(const struct sim_locks *locks, uint32_t task);
bool sim_locks_holding(const struct sim_locks *locks, uint32_t task,
                       uint32_t lock, bool shares);

#endif
