/*
 * queue.c -- the event queue: a tournament tree over all actors.
 *
 *                     2:1                  node 1: the first of all
 *             7:3             2:1          key = ticks:who
 *          9:2   7:3       5:0   2:1       leaves: node `leaves` + who
 *
 * A leaf's key is ticks << 20 | who; an inner node has the smaller key of its
 * two children. So the root holds the actor that is due first and, of several
 * due at the same time, the one with the lowest number. Setting an actor
 * replays its matches on the way to the root: no branch depends on a key, and
 * all addresses are known in advance. That is three steps for the few actors of
 * a generated world, less than a search, and twenty for a million. A binary
 * heap would move actors about, and could not find the due actor that is next
 * by number.
 *
 * Invariants
 *   I1  nodes[i] = min(nodes[2 i], nodes[2 i + 1]) for 0 < i < leaves.
 *   I2  the low bits of an actor's key are its number. All bits are 1 in leaves
 *       that belong to no actor, and in an actor's leaf until it is first set.
 */
#include "sim/world/queue.h"

#include <assert.h>

void
sim_queue_init(struct sim_queue *queue, uint64_t *words, uint32_t actors)
{
    assert(actors > 0 && actors <= 1U << SIM_QUEUE_WHO_BITS);
    queue->nodes = words;
    queue->actors = actors;
    queue->leaves = 2;
    while (queue->leaves < actors)
        queue->leaves *= 2;
    for (uint32_t i = 0; i < 2 * queue->leaves; i++)
        words[i] = UINT64_MAX;
}

void
sim_queue_set(struct sim_queue *queue, uint32_t who, uint64_t at_ticks)
{
    uint64_t *nodes = queue->nodes;
    uint64_t key = at_ticks << SIM_QUEUE_WHO_BITS | who;

    for (uint32_t at = queue->leaves + who; at > 1; at /= 2) {
        const uint64_t other = nodes[at ^ 1];

        nodes[at] = key;
        key = other < key ? other : key;
    }
    nodes[1] = key;
}

/* Is another actor due at the same time as the first? */
static bool
is_tie(const struct sim_queue *queue, uint32_t first)
{
    uint64_t second = UINT64_MAX;

    for (uint32_t at = queue->leaves + first; at > 1; at /= 2) {
        const uint64_t other = queue->nodes[at ^ 1];

        second = other < second ? other : second;
    }
    return second >> SIM_QUEUE_WHO_BITS == sim_queue_first_ticks(queue);
}

/* Is an actor below this node due first? */
static bool
is_due(const struct sim_queue *queue, uint32_t node)
{
    return queue->nodes[node] >> SIM_QUEUE_WHO_BITS ==
           sim_queue_first_ticks(queue);
}

/* Find the first due actor from number `who` on, and around. */
static uint32_t
due_from(const struct sim_queue *queue, uint32_t who)
{
    uint32_t at = queue->leaves + who;

    /* Climb to the next subtree to the right; after the last, to the root. */
    while (!is_due(queue, at)) {
        at++;
        at >>= __builtin_ctz(at);
    }
    while (at < queue->leaves) {
        at *= 2;
        at += !is_due(queue, at);
    }
    return at - queue->leaves;
}

uint32_t
sim_queue_first(const struct sim_queue *queue, struct sim_choices *choices,
                uint16_t label)
{
    const uint32_t first =
        (uint32_t)queue->nodes[1] & ((1U << SIM_QUEUE_WHO_BITS) - 1);
    uint32_t wish;
    uint32_t answer;

    assert(sim_queue_first_ticks(queue) != SIM_NEVER);
    if (!is_tie(queue, first))
        return first;
    wish = due_from(queue, sim_choices_wish(choices, queue->actors));
    answer = sim_choose_guided(choices, queue->actors, SIM_SCHED, label, wish);
    return answer == wish ? wish : due_from(queue, answer);
}
