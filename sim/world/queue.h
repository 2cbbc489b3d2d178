/*
 * queue.h -- the event queue: which actor acts next, in virtual time.
 *
 * Each actor has a number and is due at one time, or never. If several are due
 * at the same time, a choice (SIM_SCHED) picks one, so that every order can
 * occur. The answer is a number among all actors; if that actor is not due, the
 * next due one goes. So an answer still names the same actor after delays
 * elsewhere have changed, which a shrinker needs.
 */
#ifndef SIM_WORLD_QUEUE_H
#define SIM_WORLD_QUEUE_H

#include <stdint.h>

#include "common/choice.h"

enum { SIM_QUEUE_WHO_BITS = 20 }; /* bits of an actor's number */

#define SIM_NEVER (UINT64_MAX >> SIM_QUEUE_WHO_BITS)

/* Words that a queue of this many actors needs. */
#define SIM_QUEUE_WORDS(actors) (4 * (actors))

struct sim_queue {
    uint64_t *nodes; /* 2 * leaves; see queue.c */
    uint32_t leaves; /* a power of two, at least 2 */
    uint32_t actors;
};

/*
 * Begin with actors 0 .. actors-1, none of them due.
 *
 * in:      words, SIM_QUEUE_WORDS(actors) of them, used as long as the queue;
 *          at least 1 actor
 */
void sim_queue_init(struct sim_queue *queue, uint64_t *words, uint32_t actors);

/* Set the time at which an actor is due, or SIM_NEVER. */
void sim_queue_set(struct sim_queue *queue, uint32_t who, uint64_t at_ticks);

/* returns: when the first is due; SIM_NEVER if none is */
static inline uint64_t
sim_queue_first_ticks(const struct sim_queue *queue)
{
    return queue->nodes[1] >> SIM_QUEUE_WHO_BITS;
}

/*
 * Choose one of the actors that are due first. It stays due until it is set
 * again.
 *
 * in:      label, of the choice if there is a tie; some actor must be due
 * returns: its number
 */
uint32_t sim_queue_first(const struct sim_queue *queue,
                         struct sim_choices *choices, uint16_t label);

#endif
