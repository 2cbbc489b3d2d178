/* rng.h -- a processor's random numbers; the theory is in rng.c. */
#ifndef PROF_RNG_H
#define PROF_RNG_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

struct rng {
    uint64_t state;
    enum prof_random kind; /* immutable after init */
};

void prof_rng_seed(struct rng *rng, uint64_t seed);

/* Continue at `state`, or at one near it if the generator has no such state. */
void prof_rng_resume(struct rng *rng, uint64_t state);

/* Take one number: 31, 32 or 64 bits, as the kind has it. */
uint64_t prof_rng_next(struct rng *rng);

/*
 * Take numbers until one can be made into a number below `limit` without bias.
 * PROF_RANDOM_64 only.
 *
 * out:     *value, below limit, all alike, if true
 * in:      limit, at least 1 and at most 2^63
 * returns: false if 64 numbers were of no use: chance (limit / 2^64)^64
 */
bool prof_rng_below(struct rng *rng, uint64_t limit, uint64_t *value);

#endif
