/* shard_plan.c -- see shard_plan.h. */
#include "explore/search/shard_plan.h"

#include "explore/engine/engine.h"
#include "explore/search/futile.h"
#include "explore/search/search.h"

enum { PREFIXES_EACH = 32, DEPTH_MAX = 1024 };

/* Find the least depth with enough prefixes, or with all that exist. */
static bool
find_depth(struct engine *e, struct sim_search *s)
{
    const uint64_t wanted = (uint64_t)PREFIXES_EACH * s->shard.count;
    uint64_t prefixes;

    sim_futile_forget(e);
    for (s->shard.depth = 1; s->shard.depth < DEPTH_MAX; s->shard.depth++) {
        if (!sim_search_prefixes(e, s, &prefixes))
            return false;
        if (prefixes == 0 || prefixes >= wanted)
            break;
    }
    return true;
}

bool
sim_shard_plan(struct engine *e, struct sim_search *search)
{
    const uint32_t index = search->shard.index;

    if (search->shard.count == 0)
        return true;
    search->shard.index = 0;
    while (search->reduced && !search->shard.whole && !find_depth(e, search))
        e->learned = false; /* begin again with what was learned */
    sim_futile_forget(e);
    search->shard.index = index;
    if (!search->reduced || search->shard.whole)
        search->shard.depth = 0;
    search->result->shard_depth = search->shard.depth;
    return search->shard.depth > 0 || index == 1;
}
