/*
 * test_prof_hash.c -- the hashes of a bucket's key.
 *
 * The vectors of Go's hash were checked against the buckets of a running Go
 * program (docs/semantics.md, "Hash"); that of XXH3 is the one its authors
 * publish for the empty input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hash.h"

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

static void
the_hash_of_go_has_its_known_values_in_64_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const struct vector *v = &vectors[i];
        const uint64_t h = prof_hash_go_64(v->frames, v->depth, v->size_bytes);

        if (h != v->want_64 || h % GO_CHAINS != v->index_64)
            fail_msg("%s: %llx", v->why, (unsigned long long)h);
    }
}

static void
the_hash_of_go_has_its_known_values_in_32_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        const struct vector *v = &vectors[i];
        const uint32_t h = prof_hash_go_32(v->frames, v->depth, v->size_bytes);

        if (v->want_32 != 0 &&
            (h != v->want_32 || h % GO_CHAINS != v->index_32))
            fail_msg("%s: %x", v->why, h);
    }
}

static void
the_empty_key_hashes_to_nothing_in_go(void **state)
{
    (void)state;
    assert_int_equal(prof_hash_go_64(NULL, 0, 0), 0);
    assert_int_equal(prof_hash_go_32(NULL, 0, 0), 0);
}

static void
the_hash_by_default_is_xxh3(void **state)
{
    (void)state;
    assert_true(prof_hash_stack(PROF_HASH_XXH3, NULL, 0, 0) ==
                0x2d06800538d394c2);
}

static void
no_hash_depends_on_where_the_frames_lie(void **state)
{
    /* Every place of a word in a cache line, and every way XXH3 goes about
     * lengths: up to 16, 128, 240 bytes and longer. */
    enum { PLACES = 8 };
    static _Alignas(64) uintptr_t room[DEPTH_MAX + PLACES];

    (void)state;
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

/* A hash may ignore what it likes; one that ignores this is no use. */
static void
every_hash_sees_size_depth_and_each_frame(void **state)
{
    uintptr_t frames[DEPTH_MAX] = {0};

    (void)state;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_of_go_has_its_known_values_in_64_bits),
        cmocka_unit_test(the_hash_of_go_has_its_known_values_in_32_bits),
        cmocka_unit_test(the_empty_key_hashes_to_nothing_in_go),
        cmocka_unit_test(the_hash_by_default_is_xxh3),
        cmocka_unit_test(no_hash_depends_on_where_the_frames_lie),
        cmocka_unit_test(every_hash_sees_size_depth_and_each_frame),
    };

    return cmocka_run_group_tests_name("prof hash", tests, NULL, NULL);
}
