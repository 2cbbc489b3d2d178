/*
 * test_prof_hash.c -- the hashes of a bucket's key, as docs/semantics.md
 * ("Hash") defines them. White box: no call shows a hash.
 *
 * The vectors of Go's hash were checked against the buckets of a running Go
 * program. The multilinear hash is compared with a second implementation of its
 * definition, which takes one frame after the other and multiplies by hand.
 */
#include <math.h>
#include <string.h>

#include "prof/core/hash.h"
#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

#define GO_CHAINS       179999U /* hash chains of Go's table */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct {
    uintptr_t frames[3];
    uint32_t depth;
    uint64_t size_bytes;
    uint64_t want_64;
    uint32_t index_64;
    uint32_t want_32; /* 0: not known */
    uint32_t index_32;
} vectors[] = {
    {{0}, 0, 16, 0x249d9, 149977, 0x249d9, 149977},
    {{0x401000}, 1, 0, 0x2419cbd9f216, 39544, 0x4fe90016, 37422},
    {{0x401000, 0x402000}, 2, 64, 0x92ecfa05c3c0ef, 55118, 0x83e351b7, 165179},
    {{0x4a254f, 0x4a7b79, 0x462641}, 3, 4096, 0x9c63022696e8a954, 109537, 0, 0},
    {{UINTPTR_MAX, 1}, 2, 8, 0xa59971ba4a9f6833, 70523, 0, 0},
};

TEST(the_hash_of_go_has_its_known_values)
{
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const uint64_t h = prof_hash_go_64(vectors[i].frames, vectors[i].depth,
                                           vectors[i].size_bytes);
        const uint32_t h_32 = prof_hash_go_32(
            vectors[i].frames, vectors[i].depth, vectors[i].size_bytes);

        assert_true(h == vectors[i].want_64);
        assert_int_equal(h % GO_CHAINS, vectors[i].index_64);
        if (vectors[i].want_32 == 0)
            continue;
        assert_int_equal(h_32, vectors[i].want_32);
        assert_int_equal(h_32 % GO_CHAINS, vectors[i].index_32);
    }
    assert_int_equal(prof_hash_go_64(NULL, 0, 0), 0);
    assert_int_equal(prof_hash_go_32(NULL, 0, 0), 0);
}

/* ---- the definition, word by word ---- */

static const uint32_t primes[] = {
    0x6d176001, 0x6354a169, 0x72764f87, 0x76709adf, 0x6781dd65, 0x7556110d,
    0x6069171b, 0x6d511bd9, 0x7623c215, 0x7062f509, 0x60aa4f25, 0x6a71460f,
    0x65beaea3, 0x6399b28b, 0x7206c379, 0x62cf770f, 0x7b98a595, 0x7553ea35};

enum { PRIME_OF_SIZE = 16, PRIME_OF_DEPTH };

/* returns: the upper half of a product of two words, by long multiplication */
static uint64_t
upper_half(uint64_t a, uint64_t b)
{
    const uint64_t half = UINT32_MAX;
    const uint64_t high_low = (a >> 32) * (b & half);
    const uint64_t low_high = (a & half) * (b >> 32);
    const uint64_t middle =
        ((a & half) * (b & half) >> 32) + (high_low & half) + (low_high & half);

    return (a >> 32) * (b >> 32) + (high_low >> 32) + (low_high >> 32) +
           (middle >> 32);
}

/* The index of the prime by which frame `i` of the last `depth` frames, 1 to
 * 16, is multiplied. */
static uint32_t
prime_index(uint32_t i, uint32_t depth)
{
    uint32_t begin = 0;

    if (depth == 16)
        return i;
    for (uint32_t part = 8; part > 0; part /= 2) {
        if ((depth & part) == 0)
            continue;
        if (i < begin + part)
            return 16 - 2 * part + (i - begin);
        begin += part;
    }
    fail_msg("frame %u of %u", i, depth);
    return 0;
}

static uint64_t
by_the_book(const uintptr_t *frames, uint32_t depth, uint64_t size_bytes)
{
    const uint64_t stir = 0x9e3779b97f4a7c15, last = 0xd6e8feb86659fd93;
    const uint32_t stirred = depth == 0 ? 0 : (depth - 1) / 16 * 16;
    uint64_t sum = size_bytes * primes[PRIME_OF_SIZE] +
                   (uint64_t)depth * primes[PRIME_OF_DEPTH];

    for (uint32_t i = 0; i < stirred; i++) {
        sum += frames[i] * primes[i % 16];
        if (i % 16 == 15)
            sum = (sum ^ sum >> 32) * stir;
    }
    for (uint32_t i = stirred; i < depth; i++)
        sum += frames[i] * primes[prime_index(i - stirred, depth - stirred)];
    sum = (sum ^ sum >> 32) * stir;
    sum ^= sum >> 32;
    return sum * last ^ upper_half(sum, last);
}

TEST(the_multilinear_hash_is_what_its_definition_says)
{
    static uintptr_t frames[PROF_DEPTH_LIMIT];
    uint64_t word = 1;

    for (uint32_t depth = 0; depth <= PROF_DEPTH_LIMIT;
         depth += depth < 100 ? 1 : 61) {
        for (uint32_t round = 0; round < 4; round++) {
            for (uint32_t i = 0; i < depth; i++) {
                word = word * 6364136223846793005U + 1442695040888963407U;
                frames[i] = round == 0 ? UINTPTR_MAX : word >> 16 * (round - 1);
            }
            assert_true(
                prof_hash_stack(PROF_HASH_MULTILINEAR, frames, depth, word) ==
                by_the_book(frames, depth, word));
        }
    }
}

/* ---- quality ----
 *
 * 2^20 keys of a family, as regular as a program's and all different, are put
 * into 2^16 cells by 16 bits of their hashes, 16 keys in each on average. For
 * random hashes the chi-square of these counts is nearly normal, with 65535
 * degrees of freedom. The test fails if it is more than Z standard deviations
 * above its mean: by chance one in 3.5 million (alpha = 2.9e-7), one run of the
 * whole in 100,000. */

#define KEYS  (1U << 20)
#define CELLS 65536U
#define DEPTH 40U
#define Z     5.0
#define TEXT  0x555555554000U /* where a program's code begins */

static double
unevenness(const uint64_t *hashes, uint32_t shift)
{
    static uint32_t cells[CELLS];
    const double mean = (double)KEYS / CELLS;
    double chi_square = 0;

    memset(cells, 0, sizeof cells);
    for (uint32_t i = 0; i < KEYS; i++)
        cells[hashes[i] >> shift & 0xffff]++;
    for (uint32_t i = 0; i < CELLS; i++)
        chi_square += (cells[i] - mean) * (cells[i] - mean) / mean;
    return (chi_square - (CELLS - 1)) / sqrt(2.0 * (CELLS - 1));
}

TEST(hashes_of_regular_keys_spread)
{
    /* Which two frames take 10 bits of a key each; DEPTH: the size does. */
    static const struct {
        uint32_t depth, first, second;
    } families[] = {{2, 0, 1},       {16, 0, 1},       {16, 15, DEPTH},
                    {1, 0, DEPTH},   {17, 15, 16},     {32, 15, 16},
                    {37, 36, DEPTH}, {0, DEPTH, DEPTH}};
    static uint64_t hashes[KEYS];

    for (size_t row = 0; row < COUNT_OF(families); row++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            uintptr_t words[DEPTH + 1] = {0}; /* the frames, and the size */

            for (uint32_t at = 0; at < DEPTH; at++)
                words[at] = TEXT + 64 * (uintptr_t)at;
            words[families[row].first] += 16 * (uintptr_t)(i % 1024);
            words[families[row].second] += 16 * 1024 * (uintptr_t)(i / 1024);
            hashes[i] = prof_hash_stack(PROF_HASH_MULTILINEAR, words,
                                        families[row].depth, words[DEPTH]);
        }
        assert_true(unevenness(hashes, 48) < Z); /* home slots */
        assert_true(unevenness(hashes, 16) < Z); /* tags of large tables */
        assert_true(unevenness(hashes, 0) < Z);  /* and of small ones */
    }
}
