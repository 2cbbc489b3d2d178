/*
 * random.c -- the random numbers of the rule sets, one stream per processor.
 *
 *      kind        one draw                        takes the values
 *      LFSR31      state' = 2 state, folded        1 .. 2^31 - 1, never 0
 *      XORSHIFT32  sum of two 32-bit words         0 .. 2^32 - 1
 *      64          splitmix64                      0 .. 2^64 - 1, all alike
 *
 * Over its whole period splitmix64 gives every 64-bit number exactly once, so a
 * single draw is exactly uniform.
 *
 * To get a number below n from a draw r, without bias and without a division: r
 * n / 2^64, rounded down (Lemire's method). Of the 2^64 possible draws,
 * floor(2^64 / n) lead to each result, and to some results one more. The extra
 * draw is the first that leads to a result; its r n modulo 2^64 is below 2^64
 * mod n. Such a draw (x below) is rejected, and another number is drawn:
 *
 *      r n:    0          2^64         2 2^64        3 2^64
 *              |x . . . . . |x . . . . . | . . . . . . |x
 *      result        0             1            2
 *
 * If r n modulo 2^64 is at least n, it is not below 2^64 mod n, so that number
 * is almost never computed.
 *
 * Invariants
 *   I1  LFSR31: 0 < state < 2^31. XORSHIFT32: state is not 0.
 *
 * Concurrency: only its processor uses a stream.
 */
#include "prof/core/random.h"

#include "prof/core/poison.h"

#define USELESS_DRAWS 64

#define LFSR31_TAPS 0x88888eefU

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
    prof_rng_resume(rng, prof_rng_mix(seed + PROF_RNG_GAMMA));
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
    return prof_rng_next_64(rng);
}

bool
prof_rng_below_again(struct rng *rng, uint64_t limit, uint64_t *value)
{
    const uint64_t useless = (0 - limit) % limit; /* 2^64 mod limit */

    for (int draws = 1; draws < USELESS_DRAWS; draws++) {
        if (prof_rng_try_below(rng, limit, value) >= useless)
            return true;
    }
    return false;
}
