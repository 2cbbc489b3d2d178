/*
 * visited.h -- a set of 128-bit keys, for states already explored.
 *
 * A hash table with open addressing, which doubles when 3/4 full. With n keys,
 * the probability that any two different states have the same key is below n^2
 * / 2^129.
 *
 * A shared set is for this process and the processes that it forks: 256 tables
 * in memory that all of them map, each with a lock.
 */
#ifndef EXPLORE_SEARCH_VISITED_H
#define EXPLORE_SEARCH_VISITED_H

#include <stdbool.h>
#include <stdint.h>

struct sim_visited_shared;

struct sim_visited {
    uint64_t (*keys)[2]; /* {0, 0} is an empty slot */
    uint64_t slots;      /* a power of two */
    uint64_t count;      /* of this set's own keys; see sim_visited_count() */
    uint64_t count_max;
    bool full; /* count_max was reached: answers are no longer complete */
    struct sim_visited_shared *shared; /* NULL: of this process alone */
};

void sim_visited_init(struct sim_visited *set, uint64_t count_max);
void sim_visited_init_shared(struct sim_visited *set, uint64_t count_max);
void sim_visited_clear(struct sim_visited *set);
void sim_visited_close(struct sim_visited *set);

/* returns: true if the key was there; else it is now, unless set->full */
bool sim_visited_insert(struct sim_visited *set, const uint64_t key[2]);

bool sim_visited_contains(const struct sim_visited *set, const uint64_t key[2]);

uint64_t sim_visited_count(const struct sim_visited *set);

/* Pass each key to `take`, in no particular order; no process may insert. */
void sim_visited_each(const struct sim_visited *set,
                      void (*take)(void *context, const uint64_t key[2]),
                      void *context);

#endif
