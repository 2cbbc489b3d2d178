/* random.h -- a processor's random numbers; the theory is in random.c. */
#ifndef PROF_CORE_RANDOM_H
#define PROF_CORE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

struct rng {
    uint64_t state;
    enum prof_random kind; /* immutable after init */
};

void prof_rng_seed(struct rng *rng, uint64_t seed);

/* Continue at `state`, or at a nearby one if the generator cannot reach it. */
void prof_rng_resume(struct rng *rng, uint64_t state);

/* Draw one number: 31, 32 or 64 bits, by kind. */
uint64_t prof_rng_next(struct rng *rng);

#define PROF_RNG_GAMMA UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
prof_rng_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* prof_rng_next() for a stream of kind PROF_RANDOM_64. */
static inline uint64_t
prof_rng_next_64(struct rng *rng)
{
    rng->state += PROF_RNG_GAMMA;
    return prof_rng_mix(rng->state);
}

/*
 * Draw a number and map it below `limit`.
 *
 * out:     *value, below limit
 * returns: the number times `limit`, modulo 2^64; reject the value if this is
 *          below 2^64 mod limit (random.c)
 */
static inline uint64_t
prof_rng_try_below(struct rng *rng, uint64_t limit, uint64_t *value)
{
    __extension__ typedef unsigned __int128 wide; /* products only */
    const wide product = (wide)prof_rng_next_64(rng) * limit;

    *value = (uint64_t)(product >> 64);
    return (uint64_t)product;
}

/* Continue prof_rng_below() after a rejected number, with at most 63 more. */
bool prof_rng_below_again(struct rng *rng, uint64_t limit, uint64_t *value);

/*
 * Draw numbers until one can be mapped below `limit` without bias.
 * PROF_RANDOM_64 only.
 *
 * out:     *value, below limit, all values equally likely, if true
 * in:      limit, at least 1 and at most 2^63
 * returns: false if all 64 numbers were rejected, with a probability below
 *          (limit / 2^64)^64
 */
static inline bool
prof_rng_below(struct rng *rng, uint64_t limit, uint64_t *value)
{
    const uint64_t low = prof_rng_try_below(rng, limit, value);

    return low >= limit || low >= (0 - limit) % limit ||
           prof_rng_below_again(rng, limit, value);
}

#endif
