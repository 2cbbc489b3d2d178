/* graph_shard.c -- see graph_shard.h. */
#include "explore/search/graph_shard.h"

#include "explore/engine/engine.h"
#include "explore/search/frontier.h"

bool
sim_shard_owns(const struct sim_shard *shard, const struct sim_choices *choices)
{
    const uint32_t count =
        choices->count < shard->depth ? choices->count : shard->depth;
    uint64_t hash = count;

    if (shard->count == 0 || shard->depth == 0)
        return true;
    for (uint32_t i = 0; i < count; i++)
        hash = sim_mix64(hash ^ choices->list[i].value) + i;
    return sim_mix64(hash) % shard->count + 1 == shard->index;
}

void
sim_shard_sleeps(struct engine *e)
{
    if (e->shard.depth == 0)
        return;
    e->shard.whole = true;
    e->learned = true; /* the search begins again */
}

uint8_t
sim_shard_enter(struct engine *e, uint32_t at)
{
    if (at >= e->shard.depth) {
        e->state.owned =
            e->state.owned || sim_shard_owns(&e->shard, e->choices);
        if (!e->state.owned) {
            e->state.foreign = e->state.cut = true;
            sim_engine_stop(e, SIM_END_PRUNED);
        }
        return 0;
    }
    return sim_question_threads(e);
}
