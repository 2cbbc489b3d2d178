/*
 * search.h -- exhaustive search of one part of the tree (frontier.h), by one
 * process.
 */
#ifndef EXPLORE_SEARCH_SEARCH_H
#define EXPLORE_SEARCH_SEARCH_H

#include "explore/engine/explore.h"
#include "explore/search/frontier.h"
#include "explore/search/graph_shard.h"
#include "explore/search/visited.h"

struct engine;

enum sim_search_end {
    SIM_SEARCH_DONE,   /* the part has been searched */
    SIM_SEARCH_PAUSED, /* pause() returned true; the search may continue */
    SIM_SEARCH_OVER,   /* a failure, or a limit */
    SIM_SEARCH_AGAIN   /* something was learned: the search must begin again */
};

struct sim_search {
    const struct sim_kernel *kernel;
    const struct sim_exhaust_options *options;
    struct sim_exhaust_result *result; /* of this process alone */
    bool reduced;                      /* graph by graph, not by schedules */
    bool rechecks; /* cut runs were explored before: re-check some */
    struct sim_visited visited;
    struct sim_visited graphs;
    struct sim_choices choices;
    uint32_t base; /* length of the part's path */
    struct sim_shard shard;
    /* Before each run. returns: true to stop there */
    bool (*pause)(struct sim_search *search);
    void *context;
    /* Random runs in between (options->portfolio) */
    uint64_t sample_at; /* runs: when the next slice is due */
    uint64_t sample_seed;
};

/* Begin a search of the whole tree. in: kernel, options, result, reduced are
 * set */
void sim_search_begin(struct engine *e, struct sim_search *s);
void sim_search_end(struct engine *e, struct sim_search *s);

/* Forget all that was found. */
void sim_search_clear(struct engine *e, struct sim_search *s);

/* Make the engine this search's. */
void sim_search_bind(struct engine *e, struct sim_search *s);

/* Go to the part with this path. */
void sim_search_load(struct engine *e, struct sim_search *s,
                     const struct sim_step *path, uint32_t depth);

enum sim_search_end sim_search_continue(struct engine *e, struct sim_search *s);

/*
 * Go through all lists, only down to the depth at which shards divide.
 *
 * out:     *prefixes, how many lists go on below that depth
 * returns: false if the lists changed on the way, because the search met a new
 *          wait loop, more threads than before, or an operation that it cannot
 *          reduce
 */
bool sim_search_prefixes(struct engine *e, struct sim_search *s,
                         uint64_t *prefixes);

/* ---- While it is paused ---- */

/* Number of questions whose answers the next run takes over. */
uint32_t sim_search_depth(const struct sim_search *s);

/* The first question of this part's path that has another answer; or the
 * depth */
uint32_t sim_search_open(struct engine *e, const struct sim_search *s);

/* out: steps[0 .. to - from) */
void sim_search_steps(struct engine *e, const struct sim_search *s,
                      uint32_t from, uint32_t to, struct sim_step *steps);

/* Give the other answers of the questions before `depth` away. */
void sim_search_narrow(struct sim_search *s, uint32_t depth);

/* What was learned about the path. out: enabled[0 .. s->base) */
void sim_search_learned(struct engine *e, const struct sim_search *s,
                        uint8_t *enabled);

/* How much of the part is done: in [0, 1] */
double sim_search_share(struct engine *e, const struct sim_search *s);

/* ---- Results ---- */

void sim_search_keep_failure(struct sim_exhaust_result *result,
                             const struct sim_run *run,
                             const struct sim_choice *list, uint32_t count,
                             const struct sim_run_options *options);

enum sim_verdict sim_search_verdict(const struct sim_exhaust_result *result,
                                    bool finished);

#endif
