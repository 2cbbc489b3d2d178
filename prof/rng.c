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
 * A number below n, without bias and without a division: r n / 2^64, rounded
 * down. Of the 2^64 draws r, floor(2^64 / n) or one more lead to each result;
 * the one too many is the first, where r n modulo 2^64 is below 2^64 mod n. It
 * is useless, and another is drawn:
 *
 *      r n:    0          2^64         2 2^64        3 2^64
 *              |x . . . . . |x . . . . . | . . . . . . |x
 *      result        0             1            2
 *
 * A remainder at or above n is above 2^64 mod n, so nearly always that number
 * need not be known.
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
__extension__ typedef unsigned __int128 wide; /* products only */

#define USELESS_DRAWS 64

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

static inline uint64_t
next_64(struct rng *rng)
{
    rng->state += SPLITMIX_GAMMA;
    return mix(rng->state);
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
    return next_64(rng);
}

bool
prof_rng_below(struct rng *rng, uint64_t limit, uint64_t *value)
{
    for (int draws = 0; draws < USELESS_DRAWS; draws++) {
        const wide product = (wide)next_64(rng) * limit;
        const uint64_t low = (uint64_t)product;

        *value = (uint64_t)(product >> 64);
        if (low >= limit || low >= (0 - limit) % limit)
            return true;
    }
    return false;
}
