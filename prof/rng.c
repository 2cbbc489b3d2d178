/*
 * rng.c -- the random numbers of the eras, one stream per processor.
 *
 *      kind        one draw                        takes the values
 *      LFSR31      state' = 2 state, folded        1 .. 2^31 - 1, never 0
 *      XORSHIFT32  sum of two 32-bit words         0 .. 2^32 - 1
 *      64          splitmix64                      0 .. 2^64 - 1, all alike
 *
 * Over its whole period splitmix64 gives every 64-bit number exactly once, so a
 * single draw is uniform without any "nearly".
 *
 * A number below n, without bias. Cut the 2^64 numbers into blocks of n; the
 * last block is incomplete unless n divides 2^64. A draw in a complete block is
 * worth its place there, a draw in the incomplete one is worth nothing and
 * another is made:
 *
 *      | 0 .. n-1 | n .. 2n-1 | ... | qn .. 2^64-1 |
 *         r mod n    r mod n           draw again
 *
 * Invariants
 *   I1  LFSR31: 0 < state < 2^31. XORSHIFT32: state is not 0.
 *
 * Who may run with whom: a stream belongs to one processor.
 */
#include "rng.h"

#include "poison.h"

#define LFSR31_TAPS    0x88888eefU
#define SPLITMIX_GAMMA UINT64_C(0x9e3779b97f4a7c15)
#define USELESS_DRAWS  64

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void
prof_rng_resume(struct rng *rng, uint64_t state)
{
    if (rng->kind == PROF_RANDOM_LFSR31)
        state &= INT32_MAX;
    if (rng->kind != PROF_RANDOM_64 && state == 0)
        state = 1; /* I1 */
    rng->state = state;
}

void
prof_rng_seed(struct rng *rng, uint64_t seed)
{
    prof_rng_resume(rng, mix(seed + SPLITMIX_GAMMA));
}

static uint64_t
next_lfsr31(struct rng *rng)
{
    uint32_t x = (uint32_t)rng->state << 1;

    if (x >> 31 != 0)
        x ^= LFSR31_TAPS; /* its top bit clears the top bit */
    rng->state = x;
    return x;
}

static uint64_t
next_xorshift32(struct rng *rng)
{
    uint32_t older = (uint32_t)rng->state;
    const uint32_t newer = (uint32_t)(rng->state >> 32);

    older ^= older << 17;
    older ^= newer ^ older >> 7 ^ newer >> 16;
    rng->state = (uint64_t)older << 32 | newer;
    return older + newer;
}

uint64_t
prof_rng_next(struct rng *rng)
{
    switch (rng->kind) {
    case PROF_RANDOM_LFSR31:
        return next_lfsr31(rng);
    case PROF_RANDOM_XORSHIFT32:
        return next_xorshift32(rng);
    case PROF_RANDOM_64:
        break;
    }
    rng->state += SPLITMIX_GAMMA;
    return mix(rng->state);
}

bool
prof_rng_below(struct rng *rng, uint64_t limit, uint64_t *value)
{
    for (int draws = 0; draws < USELESS_DRAWS; draws++) {
        const uint64_t drawn = prof_rng_next(rng);

        *value = drawn % limit;
        /* Does the block that begins at drawn - *value end by 2^64? */
        if (drawn - *value <= 0 - limit)
            return true;
    }
    return false;
}
