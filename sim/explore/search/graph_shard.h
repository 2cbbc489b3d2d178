/*
 * graph_shard.h -- exhaustive search by several processes that do not
 * communicate.
 *
 * Search graph by graph (reduce.c) has one list for each graph. The hash of its
 * first answers decides which shard has a list: all shards go through these
 * answers, and each goes on only below its own. One shard may learn below a
 * question which threads are worth waiting for, and another could use that. So
 * for the first questions every answer is tried that could lead anywhere. Some
 * lead nowhere, and their runs end there; no graph is found twice.
 *
 * Two kinds of searches are not split: the first shard does all of them. One is
 * a search by schedules. The other is one in which a thread goes to sleep: that
 * asks twice, for its turn and for the word it sleeps on, so two lists may lead
 * to one graph.
 */
#ifndef SIM_GRAPH_SHARD_H
#define SIM_GRAPH_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "choice.h"

struct sim_shard {
    uint32_t index; /* 1 .. count; 0: none, to count prefixes */
    uint32_t count; /* 0: all lists are its own */
    uint32_t depth; /* answers that decide */
    bool whole;     /* not split, although it could be by its options */
    bool owned;     /* of the present run: the list is its own */
    bool foreign;   /* ... it is another shard's, and the run ends there */
};

/* returns: is the list, or what has been answered of it, this shard's? */
bool sim_shard_owns(const struct sim_shard *shard,
                    const struct sim_choices *choices);

/* A thread is about to go to sleep. */
void sim_shard_sleeps(void);

/*
 * In a run, at a question that is new; ends the run if the list is another's.
 *
 * in:      at, its index in the list
 * returns: the threads that may be worth waiting for, a bit each
 */
uint8_t sim_shard_enter(uint32_t at);

#endif
