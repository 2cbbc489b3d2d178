/* queue.c -- the event queue: a short array, searched from the front. */
#include "queue.h"

#include <assert.h>
#include <string.h>

void
sim_queue_push(struct sim_queue *queue, uint64_t at_ticks, uint32_t who)
{
    uint32_t at = queue->count;

    assert(queue->count < SIM_QUEUE_MAX);
    for (; at > 0 && queue->items[at - 1].who > who; at--)
        queue->items[at] = queue->items[at - 1];
    queue->items[at].at_ticks = at_ticks;
    queue->items[at].who = who;
    queue->count++;
}

uint32_t
sim_queue_pop(struct sim_queue *queue, struct sim_choices *choices,
              uint16_t label, uint64_t *at_ticks)
{
    uint32_t due[SIM_QUEUE_MAX];
    uint32_t due_count = 0;
    uint64_t first = UINT64_MAX;
    uint32_t chosen;
    uint32_t who;

    assert(queue->count > 0);
    for (uint32_t i = 0; i < queue->count; i++) {
        if (queue->items[i].at_ticks < first) {
            first = queue->items[i].at_ticks;
            due_count = 0;
        }
        if (queue->items[i].at_ticks == first)
            due[due_count++] = i;
    }
    chosen = due[sim_choose(choices, due_count, SIM_SCHED, label)];
    who = queue->items[chosen].who;
    queue->count--;
    memmove(&queue->items[chosen], &queue->items[chosen + 1],
            (queue->count - chosen) * sizeof *queue->items);
    *at_ticks = first;
    return who;
}
