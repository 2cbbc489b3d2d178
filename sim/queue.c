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

/* The first that is due, from `index` on and around. */
static uint32_t
due_from(const struct sim_queue *queue, uint32_t index, uint64_t first_ticks)
{
    while (queue->items[index].at_ticks != first_ticks)
        index = index + 1 < queue->count ? index + 1 : 0;
    return index;
}

uint32_t
sim_queue_pop(struct sim_queue *queue, struct sim_choices *choices,
              uint16_t label, uint64_t *at_ticks)
{
    uint64_t first = UINT64_MAX;
    uint32_t due = 0;
    uint32_t index = 0;
    uint32_t who;

    assert(queue->count > 0);
    for (uint32_t i = 0; i < queue->count; i++) {
        if (queue->items[i].at_ticks < first) {
            first = queue->items[i].at_ticks;
            due = 0;
        }
        due += queue->items[i].at_ticks == first;
    }
    if (due > 1) {
        const uint32_t wish = sim_choices_wish(choices, queue->count);

        index = sim_choose_guided(choices, queue->count, SIM_SCHED, label,
                                  due_from(queue, wish, first));
    }
    index = due_from(queue, index, first);
    who = queue->items[index].who;
    queue->count--;
    memmove(&queue->items[index], &queue->items[index + 1],
            (queue->count - index) * sizeof *queue->items);
    *at_ticks = first;
    return who;
}
