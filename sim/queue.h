/*
 * queue.h -- the event queue: who acts next, in virtual time.
 *
 * Of those due at the same time any may go first: a tie is a choice
 * (SIM_SCHED) among all that wait, by number; if the chosen one is not due, the
 * next one that is goes. So an answer names an actor, and still names it when
 * delays elsewhere have changed, which is what a shrinker needs. A fixed order
 * of ties would be a blind spot: some orders could never be met.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdint.h>

#include "choice.h"

enum { SIM_QUEUE_MAX = 64 };

struct sim_queue {
    struct {
        uint64_t at_ticks;
        uint32_t who;
    } items[SIM_QUEUE_MAX]; /* by who */
    uint32_t count;
};

static inline void
sim_queue_init(struct sim_queue *queue)
{
    queue->count = 0;
}

/* in: who, due at at_ticks; the queue must have room */
void sim_queue_push(struct sim_queue *queue, uint64_t at_ticks, uint32_t who);

/*
 * Take one of those due first.
 *
 * out:     *at_ticks, when it is due
 * in:      label, of the choice if there is a tie; the queue is not empty
 * returns: who
 */
uint32_t sim_queue_pop(struct sim_queue *queue, struct sim_choices *choices,
                       uint16_t label, uint64_t *at_ticks);

#endif
