/* strategies.c -- the list of strategies, and which one a run follows. */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

static const struct sim_strategy_part *const parts[SIM_STRATEGY_COUNT] = {
    [SIM_STRATEGY_RANDOM] = &sim_strategy_random,
    [SIM_STRATEGY_PCT] = &sim_strategy_pct,
    [SIM_STRATEGY_URW] = &sim_strategy_urw,
    [SIM_STRATEGY_STALL] = &sim_strategy_stall,
};

const char *
sim_strategy_text(enum sim_strategy strategy)
{
    return strategy < SIM_STRATEGY_COUNT ? parts[strategy]->name : "?";
}

const struct sim_strategy_part *
sim_strategy_of(const struct engine *e)
{
    if (e->script_runs)
        return &sim_strategy_script;
    if (e->choices->backend == SIM_REPLAY)
        return &sim_strategy_replay;
    if (e->choices->backend == SIM_ODOMETER)
        return e->reduced ? &sim_strategy_graphs : &sim_strategy_schedules;
    return parts[e->options.strategy];
}
