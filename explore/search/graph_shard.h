/*
 * graph_shard.h -- exhaustive search by several processes that do not
 * communicate.
 *
 * Search graph by graph (reduce.c) has one list for each graph. The hash of a
 * list's first answers decides which shard has the list. All shards go through
 * these first answers, and each goes on only below its own. Which threads are
 * worth waiting for is learned below a question, but a shard cannot learn what
 * happens in another. So for the first questions each shard tries every answer
 * that could lead to a graph. Runs of answers that lead to none end there; no
 * graph is found twice.
 *
 * Two kinds of searches are not split; the first shard does all of them. One is
 * a search by schedules. The other is a search in which a thread goes to sleep:
 * going to sleep asks two questions, one for the thread's turn and one for the
 * word it sleeps on, so two lists may lead to one graph.
 */
#ifndef EXPLORE_SEARCH_GRAPH_SHARD_H
#define EXPLORE_SEARCH_GRAPH_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"

struct engine;

struct sim_shard {
    uint32_t index; /* 1 .. count; 0: none, to count prefixes */
    uint32_t count; /* 0: all lists are its own */
    uint32_t depth; /* answers that decide */
    bool whole;     /* not split, although its options allow it */
};

/* returns: is the list, or what has been answered of it, this shard's? */
bool sim_shard_owns(const struct sim_shard *shard,
                    const struct sim_choices *choices);

/* A thread is about to go to sleep. */
void sim_shard_sleeps(struct engine *e);

/*
 * Called in a run, at a new question. Ends the run if the list belongs to
 * another shard.
 *
 * in:      at, the question's index in the list
 * returns: the threads that may be worth waiting for, a bit each
 */
uint8_t sim_shard_enter(struct engine *e, uint32_t at);

#endif
