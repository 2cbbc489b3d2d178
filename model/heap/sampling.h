/*
 * sampling.h -- the expected results of sampling, in closed form and in
 * integers: nothing is drawn at random, and nothing is rounded.
 *
 * Source: docs/sampling.md, "Formulas".
 */
#ifndef MODEL_HEAP_SAMPLING_H
#define MODEL_HEAP_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/heap/contention.h"

__extension__ typedef unsigned __int128 model_u128;

/* The results that a draw can have, all equally likely: first .. first+count-1.
 */
struct model_draws {
    model_u128 first;
    model_u128 count;
};

/* returns: the draws of an era's generator */
struct model_draws model_era_draws(enum model_era era);

/* returns: how many of the draws are at most `most` modulo `rate`
 */
model_u128 model_residues(struct model_draws draws, uint64_t rate,
                          uint64_t most);

/*
 * The sums over events of one length at one rate, if each result is drawn once.
 * Under exact rules the draws are taken in whole rounds of `rate`.
 */
struct model_sums {
    model_u128 draws;     /* events offered */
    model_u128 kept;      /* events kept */
    model_u128 cycles;    /* ticks recorded */
    model_u128 count_top; /* events recorded: count_top / count_bottom */
    model_u128 count_bottom;
};

/* in: cycles >= 1, rate >= 1 */
struct model_sums model_block_sums(enum model_era era, struct model_draws draws,
                                   uint64_t cycles, uint64_t rate);
struct model_sums model_mutex_sums(enum model_era era, struct model_draws draws,
                                   uint64_t cycles, uint64_t rate);

/*
 * Recorded values divided by true ones; 1 is right. Only for printing;
 * comparisons use the integers.
 */
struct model_factors {
    double kept;
    double count;
    double cycles;
};
struct model_factors model_factors_of(const struct model_sums *sums,
                                      uint64_t cycles);

/*
 * The heap sampler: the probability that an allocation is recorded (`chance`),
 * and a reader's estimate divided by the true value, on average (`factor`).
 * Doubles, because they need exp; the relative error of both is below 1e-14.
 */
struct model_heap_sampling {
    double chance;
    double factor;
};

/*
 * in:      era, not MODEL_GO_1_5, whose probability depends on earlier
 *          allocations
 */
struct model_heap_sampling model_heap_sampling(enum model_era era,
                                               uint64_t size_bytes,
                                               uint64_t rate_bytes);

#endif
