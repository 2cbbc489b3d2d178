/*
 * strategy_stall.c -- at random, but one thread stands still for a while:
 * anywhere, or between two given sites.
 *
 * Example: threads 0 and 1 have 10 steps each, and the bug needs thread 1 to
 * stop after its 4th step while thread 0 makes all of its own. A coin at each
 * step does that with a probability below 2^-10. A stall draws thread 1, that
 * step of 11, and a length of at least 10 of 21: about once in 40 runs.
 */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

static uint32_t
steps_expected(const struct thread *t)
{
    return t->steps > t->steps_before ? t->steps : t->steps_before;
}

static void
begin(struct engine *e)
{
    struct sim_rng *rng = &e->choices->rng;
    const uint32_t n = sim_strategy_threads(e);
    uint32_t longest = 1;

    e->stall_thread = sim_rng_below(rng, n);
    e->stall_at =
        sim_rng_below(rng, steps_expected(&e->threads[e->stall_thread]) + 1);
    for (uint32_t i = 0; i < n; i++)
        longest += steps_expected(&e->threads[i]);
    e->stall_left = 1 + sim_rng_below(rng, longest);
}

static bool
in_window(const struct engine *e, const struct thread *t)
{
    if (e->options.stall_from_site == 0 && e->options.stall_to_site == 0)
        return t->steps > e->stall_at;
    return (e->options.stall_from_site == 0 ||
            e->options.stall_from_site == t->run.last_site) &&
           (e->options.stall_to_site == 0 ||
            e->options.stall_to_site == t->run.next_site);
}

static uint32_t
draw(struct engine *e, const uint8_t *order, uint32_t count)
{
    uint32_t wish = sim_rng_below(&e->choices->rng, count);

    if (e->stall_left == 0 || !in_window(e, &e->threads[e->stall_thread]))
        return wish;
    if (order[wish] == e->stall_thread)
        wish = (wish + 1) % count;
    e->stall_left--;
    return wish;
}

static uint32_t
answer(struct engine *e, bool can_go_on, uint32_t count)
{
    uint8_t order[SIM_THREADS_MAX];

    sim_strategy_order(e, can_go_on, order);
    return sim_strategy_record(e, count, draw(e, order, count));
}

const struct sim_strategy_part sim_strategy_stall = {
    .name = "stall",
    .begin = begin,
    .answer = answer,
};
