/*
 * hash.h -- hashes of a bucket's key, which is (size, stack).
 *
 * PROF_HASH_MULTILINEAR (Carter and Wegman's multilinear hash): a block of 16
 * frames hashes to the sum of each frame times the prime of its position,
 * modulo 2^64. That is one multiplication and one addition per frame, in any
 * order. After a full block a permutation stirs the sum. The rest of the stack
 * uses the same primes again; which of them depends on the bits of its length.
 *
 * Blocks that differ in one position have different sums, because the primes
 * are odd. So do blocks that differ in two positions, if the differences d and
 * e are below 2^30 (1 GB of program text). For primes p and q, equal sums need
 * p d = q e; the products do not wrap, so q, which is above 2^30, would have to
 * divide d. All other pairs of keys collide only by chance, with a probability
 * of about 2^-64; prof/test/test_prof_hash.c tries regular keys.
 */
#ifndef PROF_CORE_HASH_H
#define PROF_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "prof/prof.h"

/*
 * The one-at-a-time hash of the Go runtime, over frames and then size.
 * Vectors: docs/semantics.md, "Hash".
 */
uint64_t prof_hash_go_64(const uintptr_t *frames, uint32_t depth,
                         uint64_t size_bytes);
uint32_t prof_hash_go_32(const uintptr_t *frames, uint32_t depth,
                         uint64_t size_bytes);

/*
 * returns: 64 bits. Low and high bits are well mixed with every hash: the table
 *          takes its index from the low bits and its tag from the high bits
 */
uint64_t prof_hash_stack(enum prof_hash hash, const uintptr_t *frames,
                         uint32_t depth, uint64_t size_bytes);

/*
 * Random primes of 31 bits above 3 * 2^29: one for each position of a block,
 * for the size and for the depth. Being below 2^31 they are immediate operands
 * of the multiplication.
 */
#define HASH_P0     0x6d176001U
#define HASH_P1     0x6354a169U
#define HASH_P2     0x72764f87U
#define HASH_P3     0x76709adfU
#define HASH_P4     0x6781dd65U
#define HASH_P5     0x7556110dU
#define HASH_P6     0x6069171bU
#define HASH_P7     0x6d511bd9U
#define HASH_P8     0x7623c215U
#define HASH_P9     0x7062f509U
#define HASH_P10    0x60aa4f25U
#define HASH_P11    0x6a71460fU
#define HASH_P12    0x65beaea3U
#define HASH_P13    0x6399b28bU
#define HASH_P14    0x7206c379U
#define HASH_P15    0x62cf770fU
#define HASH_PSIZE  0x7b98a595U
#define HASH_PDEPTH 0x7553ea35U

/* Odd: to stir between blocks and at the end. */
#define HASH_STIR 0x9e3779b97f4a7c15U
#define HASH_LAST 0xd6e8feb86659fd93U

enum { HASH_BLOCK = 16 }; /* frames */

__extension__ typedef unsigned __int128 hash_u128;

static inline uint64_t
hash_sum_0_to_7(const uintptr_t *f)
{
    return f[0] * HASH_P0 + f[1] * HASH_P1 + f[2] * HASH_P2 + f[3] * HASH_P3 +
           f[4] * HASH_P4 + f[5] * HASH_P5 + f[6] * HASH_P6 + f[7] * HASH_P7;
}

static inline uint64_t
hash_sum_8_to_11(const uintptr_t *f)
{
    return f[0] * HASH_P8 + f[1] * HASH_P9 + f[2] * HASH_P10 + f[3] * HASH_P11;
}

static inline uint64_t
hash_sum_block(const uintptr_t *f)
{
    return hash_sum_0_to_7(f) + hash_sum_8_to_11(f + 8) + f[12] * HASH_P12 +
           f[13] * HASH_P13 + f[14] * HASH_P14 + f[15] * HASH_P15;
}

/* Less than a block: the bits of the length choose the primes. */
static inline uint64_t
hash_sum_rest(const uintptr_t *f, uint32_t depth)
{
    uint64_t sum = 0;

    if ((depth & 8) != 0) {
        sum += hash_sum_0_to_7(f);
        f += 8;
    }
    if ((depth & 4) != 0) {
        sum += hash_sum_8_to_11(f);
        f += 4;
    }
    if ((depth & 2) != 0) {
        sum += f[0] * HASH_P12 + f[1] * HASH_P13;
        f += 2;
    }
    if ((depth & 1) != 0)
        sum += f[0] * HASH_P14;
    return sum;
}

static inline uint64_t
hash_stir(uint64_t h)
{
    return (h ^ h >> 32) * HASH_STIR;
}

static inline uint64_t
hash_fold(uint64_t a, uint64_t b)
{
    const hash_u128 product = (hash_u128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Add the rest of a stack, HASH_BLOCK frames at most, to the sum `h`. */
static inline uint64_t
hash_end(uint64_t h, const uintptr_t *frames, uint32_t depth)
{
    h += depth == HASH_BLOCK ? hash_sum_block(frames)
                             : hash_sum_rest(frames, depth);
    h = hash_stir(h);
    return hash_fold(h ^ h >> 32, HASH_LAST);
}

static inline uint64_t
hash_begin(uint32_t depth, uint64_t size_bytes)
{
    return size_bytes * HASH_PSIZE + (uint64_t)depth * HASH_PDEPTH;
}

/* The hash of record calls; in this header so that the lookup can inline it. */
static inline uint64_t
prof_hash_multilinear(const uintptr_t *frames, uint32_t depth,
                      uint64_t size_bytes)
{
    uint64_t h = hash_begin(depth, size_bytes);

    for (; depth > HASH_BLOCK; depth -= HASH_BLOCK, frames += HASH_BLOCK)
        h = hash_stir(h + hash_sum_block(frames));
    return hash_end(h, frames, depth);
}

/* The same for at most HASH_BLOCK frames. */
static inline uint64_t
prof_hash_multilinear_few(const uintptr_t *frames, uint32_t depth,
                          uint64_t size_bytes)
{
    return hash_end(hash_begin(depth, size_bytes), frames, depth);
}

#endif
