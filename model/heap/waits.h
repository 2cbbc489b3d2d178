/*
 * waits.h -- which tasks wait for which lock and since when, from the truth
 * log; and what a release and the end of a wait add to the profiles.
 */
#ifndef MODEL_HEAP_WAITS_H
#define MODEL_HEAP_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_WAITS_MAX = 64 };

struct model_wait {
    uint32_t task;
    uint32_t lock;
    int64_t began;   /* by the clock of its processor */
    int64_t charged; /* the wait up to this time was charged to releases */
    bool block_on;   /* the block profile was on when it began */
    bool mutex_on;
};

struct model_waits {
    struct model_wait all[MODEL_WAITS_MAX]; /* oldest first */
    uint32_t count;
};

void model_waits_begin(struct model_waits *waits,
                       const struct model_wait *wait);

/*
 * The holder of a mutex passes it to `task`.
 *
 * in:      now, by the clock of the holder's processor; all, whether the holder
 *          is also charged for the others that wait
 * out:     *on, whether the event goes to the mutex profile
 * returns: ticks to charge to the holder
 */
int64_t model_waits_released(struct model_waits *waits, uint32_t task,
                             int64_t now, bool all, bool *on);

/*
 * A wait is over. in: now, by the waiter's own clock
 *
 * out:     *on, whether the event goes to the block profile
 * returns: how long the wait was, in ticks
 */
int64_t model_waits_woken(struct model_waits *waits, uint32_t task, int64_t now,
                          bool *on);

#endif
