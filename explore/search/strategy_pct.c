/*
 * strategy_pct.c -- random priorities, and d - 1 random steps at which the
 * running thread falls below all others.
 *
 * A bug of depth d needs d orderings of events. With n threads and k steps it
 * is found with a probability of at least 1 / (n k^(d-1)) per run: with 3
 * threads, 50 steps and d = 2, once in 150 runs.
 *
 * Example: priorities 7, 5, 6 (threads 0, 1, 2), one change, at step 3. Thread
 * 0 runs up to step 3, falls to 0; then thread 2 runs until it waits or ends,
 * then thread 1, and thread 0 last.
 *
 * After Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler
 * with probabilistic guarantees of finding bugs" (ASPLOS 2010).
 */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

enum { PCT_DEPTH_MAX = 5 };

static void
begin(struct engine *e)
{
    struct sim_rng *rng = &e->choices->rng;
    const uint32_t n = sim_strategy_threads(e);

    e->pct_depth = e->options.pct_depth != 0
                       ? e->options.pct_depth
                       : 1 + sim_rng_below(rng, PCT_DEPTH_MAX);
    if (e->pct_depth > PCT_DEPTH_MAX)
        e->pct_depth = PCT_DEPTH_MAX;
    /* Priorities above all change points, in random order. */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t j = sim_rng_below(rng, i + 1);

        e->threads[i].priority = e->threads[j].priority;
        e->threads[j].priority = PCT_DEPTH_MAX + i;
    }
    for (uint32_t i = 0; i + 1 < e->pct_depth; i++)
        e->pct_changes[i] = 1 + sim_rng_below(rng, e->steps_most);
}

/* Called at every point, also where only one thread can run. */
static void
step(struct engine *e)
{
    for (uint32_t i = 0; i + 1 < e->pct_depth; i++) {
        if (e->pct_changes[i] == e->run->steps)
            e->threads[e->current].priority = i; /* below all unfallen */
    }
}

static uint32_t
highest(struct engine *e, const uint8_t *order, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (e->threads[order[i]].priority > e->threads[order[best]].priority)
            best = i;
    }
    return best;
}

static uint32_t
answer(struct engine *e, bool can_go_on, uint32_t count)
{
    uint8_t order[SIM_THREADS_MAX];

    sim_strategy_order(e, can_go_on, order);
    return sim_strategy_record(e, count, highest(e, order, count));
}

const struct sim_strategy_part sim_strategy_pct = {
    .name = "pct",
    .begin = begin,
    .step = step,
    .answer = answer,
};
