/*
 * strategy_urw.c -- each thread with a probability proportional to its
 * remaining steps, estimated from earlier runs: all interleavings are equally
 * likely.
 *
 * Example: thread 0 has 1 step left and thread 1 has 3. There are 4
 * interleavings, one of which begins with thread 0: it runs with a probability
 * of 1/4.
 *
 * After Zhao, Wolff, Mathur and Roychoudhury, "Selectively uniform concurrency
 * testing" (ASPLOS 2025): their uniform random walk.
 */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

static uint32_t
steps_left(const struct thread *t)
{
    /* It stands before a step already counted. */
    return t->steps_before >= t->steps ? t->steps_before - t->steps + 1 : 1;
}

static uint32_t
draw(struct engine *e, const uint8_t *order, uint32_t count)
{
    uint32_t total = 0;
    uint32_t drawn;

    for (uint32_t i = 0; i < count; i++)
        total += steps_left(&e->threads[order[i]]);
    drawn = sim_rng_below(&e->choices->rng, total);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t weight = steps_left(&e->threads[order[i]]);

        if (drawn < weight)
            return i;
        drawn -= weight;
    }
    return count - 1;
}

static uint32_t
answer(struct engine *e, bool can_go_on, uint32_t count)
{
    uint8_t order[SIM_THREADS_MAX];

    sim_strategy_order(e, can_go_on, order);
    return sim_strategy_record(e, count, draw(e, order, count));
}

const struct sim_strategy_part sim_strategy_urw = {
    .name = "urw",
    .answer = answer,
};
