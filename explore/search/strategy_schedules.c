/*
 * strategy_schedules.c -- every schedule, cut where its state was seen before.
 *
 * When a run reaches a point with answers that are new, the hash of its state
 * is looked up. If another run was in the same state, it has explored
 * everything beyond, and this run ends. The state consists of the execution
 * graph so far (including seq_cst fences, locks, marks and the kernel's own
 * choices), the set of started threads and, with a bound on preemptions, the
 * current thread and the preemptions left.
 *
 * Example: threads 0 and 1 each write a place of their own. After the
 * schedules `0 1` and `1 0` the state is the same, so the second run ends
 * there. One in so many of the runs that would be cut goes on at random, as a
 * check: it must end in a graph that is known.
 */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

/* Have all answers carried over from the previous run been used? */
static bool
fresh(const struct sim_choices *choices)
{
    return choices->count >= choices->fixed_count;
}

static void
seen(struct engine *e, bool can_go_on)
{
    uint64_t key[2] = {e->graph[0], e->graph[1]};

    if (e->visited == NULL || e->state.detour || !fresh(e->choices))
        return;
    if (e->options.bounded)
        key[0] ^= sim_mix64(e->preemptions_left | (uint64_t)e->current << 32 |
                            (uint64_t)can_go_on << 40);
    if (!sim_visited_insert(e->visited, key))
        return;
    e->state.cut = sim_mix64(key[1]) % 100 >= e->recheck_of_100;
    if (e->state.cut)
        sim_engine_stop(e, SIM_END_PRUNED);
    e->state.detour = true;
    e->detour_rng.state = key[0];
}

static uint32_t
answer(struct engine *e, bool can_go_on, uint32_t count)
{
    if (e->state.detour)
        return sim_rng_below(&e->detour_rng, count);
    return sim_strategy_choose(e, can_go_on, count);
}

const struct sim_strategy_part sim_strategy_schedules = {
    .name = "schedules",
    .seen = seen,
    .answer = answer,
};
