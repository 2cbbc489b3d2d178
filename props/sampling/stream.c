/*
 * stream.c -- the generators, run backwards by one step.
 *
 * Each generator's step is a bijection, so a number determines the state before
 * it. Written from the definitions in docs/sampling.md, not from the library's
 * code.
 */
#include "props/sampling/stream.h"

/* Find x, given x ^ x << shift = y if `left`, or else x ^ x >> shift = y. */
static uint64_t
undo_xor_shift(uint64_t y, int shift, bool left, int bits)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t x = y;

    for (int known = shift; known < bits; known += shift)
        x = (y ^ (left ? x << shift : x >> shift)) & mask;
    return x;
}

/* The inverse of an odd number modulo 2^64. Each step doubles the correct
 * bits. */
static uint64_t
inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;

    for (int i = 0; i < 6; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static uint64_t
before_64(uint64_t wanted)
{
    uint64_t z = undo_xor_shift(wanted, 31, false, 64);

    z = undo_xor_shift(z * inverse_of(0x94d049bb133111ebU), 27, false, 64);
    z = undo_xor_shift(z * inverse_of(0xbf58476d1ce4e5b9U), 30, false, 64);
    return z - 0x9e3779b97f4a7c15U;
}

/* The newer word is taken as 1: then the sum is the successor of the other
 * word, plus 1. */
static uint64_t
before_xorshift(uint64_t wanted)
{
    const uint64_t successor = (wanted - 1) & UINT32_MAX;
    const uint64_t half = undo_xor_shift(successor ^ 1, 7, false, 32);

    return UINT64_C(1) << 32 | undo_xor_shift(half, 17, true, 32);
}

bool
props_stream_before(enum prof_random random, uint64_t wanted, uint64_t *state)
{
    const uint64_t taps = 0x88888eef; /* odd: a folded state is odd */

    switch (random) {
    case PROF_RANDOM_64:
        *state = before_64(wanted);
        return true;
    case PROF_RANDOM_XORSHIFT32:
        *state = before_xorshift(wanted);
        return wanted <= UINT32_MAX;
    case PROF_RANDOM_LFSR31:
        *state = (wanted % 2 == 1 ? wanted ^ taps : wanted) >> 1;
        return wanted > 0 && wanted <= INT32_MAX;
    }
    return false;
}
