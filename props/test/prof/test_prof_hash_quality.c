/*
 * test_prof_hash_quality.c -- how the default hash spreads keys that are as
 * regular as a program's: 2^20 of each family, all different.
 *
 * No two keys of a family may have the same 64-bit hash; with random hashes
 * that would happen once in 2^25 families. Then the bits that a table uses are
 * tested 16 at a time: they put the keys into 2^16 cells, 16 keys in each on
 * average. For random hashes the chi-square of these counts is nearly normal,
 * with 65535 degrees of freedom. The test fails if it is more than Z standard
 * deviations above its mean; by chance one test does so in 3.5 million (alpha
 * = 2.9e-7), and one run of this whole program in 60000. Counts that are more
 * even than random are accepted.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "hash.h"
#include "unit_test.h"

#define KEYS     (1U << 20)
#define CELLS    65536U
#define DEPTH    40U
#define Z        5.0
#define TEXT     0x555555554000U /* where a program's code begins */
#define LOW_TEXT 0x401000U       /* the same, at a fixed address */

struct key {
    uintptr_t frames[DEPTH];
    uint32_t depth;
    uint64_t size_bytes;
};

/* Make the i-th key of a family out of one whose frames are all different. */
typedef void (*family_fn)(struct key *key, uint32_t i);

static uint64_t hashes[KEYS];

/* Are all hashes different? They are kept in a hash table with linear
 * probing. */
static bool
all_differ(void)
{
    static uint64_t seen[2 * KEYS]; /* 0: free; no key may have this hash */

    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t at = hashes[i] % (2 * KEYS);

        for (; seen[at] != 0 && seen[at] != hashes[i]; at++, at %= 2 * KEYS)
            ;
        if (seen[at] == hashes[i])
            return false;
        seen[at] = hashes[i];
    }
    return true;
}

/* How uneven the hashes are: chi-square, in standard deviations from its mean.
 * Cells are 16 bits of the hash from bit `shift` on, or, if `with_top`, its
 * upper 8 bits and 8 from `shift` on. */
static double
unevenness(uint32_t shift, bool with_top)
{
    static uint32_t cells[CELLS];
    const double mean = (double)KEYS / CELLS;
    double chi_square = 0;

    memset(cells, 0, sizeof cells);
    for (uint32_t i = 0; i < KEYS; i++) {
        const uint64_t h = hashes[i];

        cells[with_top ? h >> 56 << 8 | (h >> shift & 0xff)
                       : h >> shift & 0xffff]++;
    }
    for (uint32_t i = 0; i < CELLS; i++)
        chi_square += (cells[i] - mean) * (cells[i] - mean) / mean;
    return (chi_square - (CELLS - 1)) / sqrt(2.0 * (CELLS - 1));
}

static void
assert_spread(uintptr_t text, uint32_t depth, family_fn family)
{
    struct key key;

    for (uint32_t i = 0; i < KEYS; i++) {
        key.depth = depth;
        key.size_bytes = 64;
        for (uint32_t frame = 0; frame < DEPTH; frame++)
            key.frames[frame] = text + 64 * (uintptr_t)frame;
        family(&key, i);
        hashes[i] = prof_hash_stack(PROF_HASH_MULTILINEAR, key.frames,
                                    key.depth, key.size_bytes);
    }
    assert_true(unevenness(48, false) < Z); /* home slots */
    assert_true(unevenness(16, false) < Z); /* tags of large tables */
    assert_true(unevenness(0, false) < Z);  /* and of small ones */
    assert_true(unevenness(20, true) < Z);  /* both together */
    assert_true(all_differ());
}

static void
leaves_of_a_module(struct key *key, uint32_t i)
{
    key->frames[0] += 32 * (uintptr_t)(i % 1024);
    key->frames[1] += 32 * (uintptr_t)(i / 1024);
}

TEST(two_leaves_anywhere_in_a_module_of_32_kb_spread)
{
    assert_spread(LOW_TEXT, 16, leaves_of_a_module);
    assert_spread(TEXT, 16, leaves_of_a_module);
    assert_spread(TEXT, 2, leaves_of_a_module);
}

static void
sizes_and_outermost(struct key *key, uint32_t i)
{
    key->size_bytes = 8 * (uint64_t)(i / 1024);
    key->frames[key->depth - 1] += 16 * (uintptr_t)(i % 1024);
}

TEST(sizes_and_outermost_frames_spread_at_any_depth)
{
    for (uint32_t depth = 1; depth <= 32; depth *= 2)
        assert_spread(LOW_TEXT, depth, sizes_and_outermost);
    assert_spread(TEXT, 16, sizes_and_outermost);
    assert_spread(TEXT, 37, sizes_and_outermost);
}

/* A congruential sequence of full period: no pair comes twice. */
static void
pairs_of_16_mb(struct key *key, uint32_t i)
{
    static uint64_t pair;

    if (i == 0)
        pair = 1;
    pair = (pair * 0x5deece66d + 11) & 0xffffffffffff;
    key->frames[0] = TEXT + (pair & 0xffffff);
    key->frames[1] = TEXT + (pair >> 24);
}

TEST(random_leaf_pairs_of_16_mb_of_text_spread)
{
    assert_spread(TEXT, 16, pairs_of_16_mb);
}

static void
bits_of_frames(struct key *key, uint32_t i)
{
    const uint32_t bits = 20 / key->depth;

    for (uint32_t frame = 0; frame < key->depth; frame++)
        key->frames[frame] +=
            16 * (uintptr_t)(i >> bits * frame & ((1U << bits) - 1));
}

TEST(differences_of_many_frames_at_once_spread)
{
    assert_spread(TEXT, 4, bits_of_frames);
    assert_spread(TEXT, 5, bits_of_frames);
    assert_spread(TEXT, 10, bits_of_frames);
    assert_spread(TEXT, 20, bits_of_frames);
}

static void
around_a_block(struct key *key, uint32_t i)
{
    key->frames[15] += 16 * (uintptr_t)(i % 1024);
    key->frames[16] += 16 * (uintptr_t)(i / 1024);
}

TEST(the_last_frame_of_a_block_and_the_first_of_the_next_spread)
{
    assert_spread(TEXT, 17, around_a_block);
    assert_spread(TEXT, 32, around_a_block);
}

static void
counted_sizes(struct key *key, uint32_t i)
{
    key->size_bytes = 1 + (uint64_t)i;
}

static void
sizes_of_the_upper_bits(struct key *key, uint32_t i)
{
    key->size_bytes = 1 + ((uint64_t)i << 44);
}

static void
frames_of_the_upper_bits(struct key *key, uint32_t i)
{
    key->frames[0] = (uintptr_t)i << 44;
}

TEST(each_end_of_a_word_spreads)
{
    assert_spread(TEXT, 0, counted_sizes);
    assert_spread(TEXT, 0, sizes_of_the_upper_bits);
    assert_spread(TEXT, 1, frames_of_the_upper_bits);
    assert_spread(TEXT, 16, frames_of_the_upper_bits);
}

/*
 * Changing one bit of a key must change each bit of the hash for half of all
 * keys: for 2048 of 4096, with a standard deviation of 32. Up to 6 deviations
 * are accepted. By chance one count in 500 million is further off (alpha =
 * 2e-9), and there are 70000 counts.
 */
TEST(each_bit_of_a_key_turns_each_bit_of_the_hash_half_the_time)
{
    enum { FRAMES = 17, KEY_BITS = 64 * (FRAMES + 1), TRIES = 4096 };
    static uint32_t turned[KEY_BITS][64];
    uint64_t words[FRAMES + 1];
    uint64_t state_word = 1;

    memset(turned, 0, sizeof turned);
    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t h;

        for (uint32_t w = 0; w <= FRAMES; w++) {
            state_word = state_word * 6364136223846793005U + 1;
            words[w] = TEXT + (state_word >> 40);
        }
        h = prof_hash_stack(PROF_HASH_MULTILINEAR, words, FRAMES,
                            words[FRAMES]);
        for (uint32_t bit = 0; bit < KEY_BITS; bit++) {
            uint64_t other;

            words[bit / 64] ^= UINT64_C(1) << bit % 64;
            other = h ^ prof_hash_stack(PROF_HASH_MULTILINEAR, words, FRAMES,
                                        words[FRAMES]);
            words[bit / 64] ^= UINT64_C(1) << bit % 64;
            for (uint32_t out = 0; out < 64; out++)
                turned[bit][out] += other >> out & 1;
        }
    }
    for (uint32_t bit = 0; bit < KEY_BITS; bit++) {
        for (uint32_t out = 0; out < 64; out++)
            assert_in_range(turned[bit][out], TRIES / 2 - 192, TRIES / 2 + 192);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
