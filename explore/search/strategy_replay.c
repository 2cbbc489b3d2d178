/*
 * strategy_replay.c -- the answers of a list.
 *
 * The list of a search graph by graph, `g0,0,0,1`, has only the questions that
 * such a search asks; reduce.c answers the others as it did then.
 */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

static uint32_t
must_run(struct engine *e, bool can_go_on)
{
    return e->reduced ? sim_reduce_pick(e, can_go_on) : SIM_THREADS_MAX;
}

const struct sim_strategy_part sim_strategy_replay = {
    .name = "replay",
    .must_run = must_run,
    .answer = sim_strategy_choose,
};
