/*
 * rng.h -- splitmix64, the generator behind every random back end.
 *
 * One 64-bit word of state, no warm-up, any seed is good. A run must be a
 * function of its seed alone, so nothing else in sim/ may draw random numbers.
 */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stdint.h>

struct sim_rng {
    uint64_t state;
};

static inline uint64_t
sim_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* One step of a running hash over words; end it with sim_mix64(). */
static inline uint64_t
sim_hash_step(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

static inline uint64_t
sim_rng_next(struct sim_rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15U;
    return sim_mix64(rng->state);
}

/*
 * in:      limit > 0
 * returns: a number in [0, limit). The bias is below limit / 2^32: it steers
 *          the search, never a statistic.
 */
static inline uint32_t
sim_rng_below(struct sim_rng *rng, uint32_t limit)
{
    return (uint32_t)(((sim_rng_next(rng) >> 32) * limit) >> 32);
}

#endif
