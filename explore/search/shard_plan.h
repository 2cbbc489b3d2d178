/* shard_plan.h -- how deep the shards of a search divide it. */
#ifndef EXPLORE_SEARCH_SHARD_PLAN_H
#define EXPLORE_SEARCH_SHARD_PLAN_H

#include <stdbool.h>

struct engine;

struct sim_search;

/*
 * Choose the depth at which shards divide, so that there are many more prefixes
 * than shards. All shards choose the same depth.
 *
 * in:      search, begun, with the shard's index and count
 * returns: false if the search is not split and belongs to another shard
 */
bool sim_shard_plan(struct engine *e, struct sim_search *search);

#endif
