/*
 * test_prof_hash.c -- the hashes of a bucket's key.
 *
 * The vectors of Go's hash were checked against the buckets of a running Go
 * program (docs/semantics.md, "Hash"). The multilinear hash is compared with a
 * second implementation of its definition there, which takes one frame after
 * the other and multiplies by hand. Quality is tested in
 * test_prof_hash_quality.c.
 */
#include <string.h>

#include "hash.h"
#include "unit_test.h"

#define GO_CHAINS       179999U /* hash chains of Go's table */
#define DEPTH_MAX       64U
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct vector {
    const char *why;
    uintptr_t frames[3];
    uint32_t depth;
    uint64_t size_bytes;
    uint64_t want_64;
    uint32_t index_64;
    uint32_t want_32; /* 0: not known */
    uint32_t index_32;
};

static const struct vector vectors[] = {
    {"no frames", {0}, 0, 16, 0x249d9, 149977, 0x249d9, 149977},
    {"no size", {0x401000}, 1, 0, 0x2419cbd9f216, 39544, 0x4fe90016, 37422},
    {"two frames",
     {0x401000, 0x402000},
     2,
     64,
     0x92ecfa05c3c0ef,
     55118,
     0x83e351b7,
     165179},
    {"three frames of a real program",
     {0x4a254f, 0x4a7b79, 0x462641},
     3,
     4096,
     0x9c63022696e8a954,
     109537,
     0,
     0},
    {"sums that wrap", {UINTPTR_MAX, 1}, 2, 8, 0xa59971ba4a9f6833, 70523, 0, 0},
};

TEST(the_hash_of_go_has_its_known_values_in_64_bits)
{
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const struct vector *v = &vectors[i];
        const uint64_t h = prof_hash_go_64(v->frames, v->depth, v->size_bytes);

        if (h != v->want_64 || h % GO_CHAINS != v->index_64)
            fail_msg("%s: %llx", v->why, (unsigned long long)h);
    }
}

TEST(the_hash_of_go_has_its_known_values_in_32_bits)
{
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const struct vector *v = &vectors[i];
        const uint32_t h = prof_hash_go_32(v->frames, v->depth, v->size_bytes);

        if (v->want_32 != 0 &&
            (h != v->want_32 || h % GO_CHAINS != v->index_32))
            fail_msg("%s: %x", v->why, h);
    }
}

/* Go's hash is multiplied by an odd number to spread it: that loses no
 * information, and leaves bit 0 as it is. */
TEST(the_spread_of_go_s_hash_keeps_its_lowest_bit)
{
    for (uintptr_t frame = 1; frame <= 64; frame++) {
        assert_int_equal(prof_hash_stack(PROF_HASH_GO_64, &frame, 1, 8) & 1,
                         prof_hash_go_64(&frame, 1, 8) & 1);
        assert_int_equal(prof_hash_stack(PROF_HASH_GO_32, &frame, 1, 8) & 1,
                         prof_hash_go_32(&frame, 1, 8) & 1);
    }
}

TEST(the_empty_key_hashes_to_nothing_in_go)
{
    assert_int_equal(prof_hash_go_64(NULL, 0, 0), 0);
    assert_int_equal(prof_hash_go_32(NULL, 0, 0), 0);
}

/* ---- the definition, word by word ---- */

static const uint32_t primes[] = {
    0x6d176001, 0x6354a169, 0x72764f87, 0x76709adf, 0x6781dd65, 0x7556110d,
    0x6069171b, 0x6d511bd9, 0x7623c215, 0x7062f509, 0x60aa4f25, 0x6a71460f,
    0x65beaea3, 0x6399b28b, 0x7206c379, 0x62cf770f, 0x7b98a595, 0x7553ea35};

enum { PRIME_OF_SIZE = 16, PRIME_OF_DEPTH };

/* The product of two words by long multiplication: four products of their
 * halves. */
static void
multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    const uint64_t half = UINT32_MAX;
    const uint64_t low_low = (a & half) * (b & half);
    const uint64_t high_low = (a >> 32) * (b & half);
    const uint64_t low_high = (a & half) * (b >> 32);
    const uint64_t middle =
        (low_low >> 32) + (high_low & half) + (low_high & half);

    *low = middle << 32 | (low_low & half);
    *high = (a >> 32) * (b >> 32) + (high_low >> 32) + (low_high >> 32) +
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
    uint64_t high, h;
    uint64_t sum = size_bytes * primes[PRIME_OF_SIZE] +
                   (uint64_t)depth * primes[PRIME_OF_DEPTH];
    const uint32_t stirred = depth == 0 ? 0 : (depth - 1) / 16 * 16;

    for (uint32_t i = 0; i < stirred; i++) {
        sum += frames[i] * primes[i % 16];
        if (i % 16 == 15)
            sum = (sum ^ sum >> 32) * stir;
    }
    for (uint32_t i = stirred; i < depth; i++)
        sum += frames[i] * primes[prime_index(i - stirred, depth - stirred)];
    sum = (sum ^ sum >> 32) * stir;
    multiply(sum ^ sum >> 32, last, &high, &h);
    return h ^ high;
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

TEST(what_the_proof_of_the_multilinear_hash_asks_of_its_primes_holds)
{
    for (size_t i = 0; i < COUNT_OF(primes); i++) {
        assert_true(primes[i] > 1U << 30 && primes[i] < 1U << 31);
        for (uint32_t d = 2; d * d < primes[i]; d++)
            assert_true(primes[i] % d != 0);
        for (size_t other = 0; other < i; other++)
            assert_true(primes[i] != primes[other]);
    }
}

TEST(no_hash_depends_on_where_the_frames_lie)
{
    /* Frames begin at each word of a cache line, and fill several blocks. */
    enum { PLACES = 8 };
    static _Alignas(64) uintptr_t room[DEPTH_MAX + PLACES];

    for (int hash = 0; hash < PROF_HASH_COUNT; hash++) {
        for (uint32_t depth = 0; depth <= DEPTH_MAX; depth++) {
            uint64_t first = 0;

            for (size_t place = 0; place < PLACES; place++) {
                uint64_t h;

                memset(room, 0xee, sizeof room);
                for (uint32_t i = 0; i < depth; i++)
                    room[place + i] = 0x401000 + 0x35 * (uintptr_t)i;
                h = prof_hash_stack((enum prof_hash)hash, &room[place], depth,
                                    48);
                if (place == 0)
                    first = h;
                assert_true(h == first);
            }
        }
    }
}

/* Each hash must depend on size, depth and each frame. */
TEST(every_hash_sees_size_depth_and_each_frame)
{
    uintptr_t frames[DEPTH_MAX] = {0};

    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        frames[i] = 0x401000 + 16 * (uintptr_t)i;
    for (int kind = 0; kind < PROF_HASH_COUNT; kind++) {
        const enum prof_hash hash = (enum prof_hash)kind;
        const uint64_t h = prof_hash_stack(hash, frames, DEPTH_MAX, 32);

        assert_true(prof_hash_stack(hash, frames, DEPTH_MAX, 33) != h);
        assert_true(prof_hash_stack(hash, frames, DEPTH_MAX - 1, 32) != h);
        for (uint32_t i = 0; i < DEPTH_MAX; i++) {
            frames[i] ^= 1;
            assert_true(prof_hash_stack(hash, frames, DEPTH_MAX, 32) != h);
            frames[i] ^= 1;
        }
        assert_true(prof_hash_stack(hash, frames, DEPTH_MAX, 32) == h);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
