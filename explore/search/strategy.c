/* strategy.c -- what several strategies share; see strategy.h. */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

uint32_t
sim_strategy_choose(struct engine *e, bool can_go_on, uint32_t count)
{
    (void)can_go_on;
    return sim_choose_carried(e->choices, count, SIM_SCHED, (uint16_t)e->ready);
}

uint32_t
sim_strategy_record(struct engine *e, uint32_t count, uint32_t wish)
{
    return sim_choose_guided(e->choices, count, SIM_SCHED, (uint16_t)e->ready,
                             wish);
}

void
sim_strategy_order(struct engine *e, bool can_go_on, uint8_t order[])
{
    uint32_t n = 0;

    if (can_go_on)
        order[n++] = (uint8_t)e->current;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if ((e->ready >> i & 1) != 0 && !(can_go_on && i == e->current))
            order[n++] = (uint8_t)i;
    }
}

uint32_t
sim_strategy_threads(const struct engine *e)
{
    uint32_t n = e->threads_count;

    while (n < SIM_THREADS_MAX && e->threads[n].steps > 0)
        n++;
    return n;
}
