/*
 * test_rules_effects.c -- sampling rules of other profilers: realloc,
 * alignment, threads, changes of the rate, and small cases worked out by hand.
 */
#include <math.h>

#include "check_near.h"
#include "effects.h"
#include "figures.h"
#include "jfr.h"
#include "rule_sets.h"
#include "strata.h"
#include "unit_test.h"

/* Go 1.5 at R = 2 and sizes of 1: gaps 0 to 3, a quarter each. From a gap of 1
 * the next is any; from 0 it is 0, 0, 1, 2, as one byte was overshot; 2 and 3
 * become 1 and 2. So the shares of 0, 1, 2, 3 are 4, 8, 5, 2 of 19, and those
 * of 0 and 1 are sampled. */
TEST(go1_5_carries_what_was_overshot)
{
    const uint64_t one = 1;
    double chance;

    subjects_chances(&subjects_go1_5, 2, &one, 1, &chance);
    CHECK_NEAR(chance, 12.0 / 19, 1e-9, "go1.5");
}

/* The next numbers are those of an odometer, so all of them come up. */
struct odometer {
    uint64_t digits[4];
    size_t taken;
};

static uint64_t
next_digit(void *context, uint64_t rate)
{
    struct odometer *odometer = context;

    (void)rate;
    assert_true(odometer->taken < 4);
    return odometer->digits[odometer->taken++];
}

/* R = 6: four blocks and 6^4 places of their points. Each allocation stands for
 * its size on average, in whole numbers, wherever the blocks begin. */
TEST(strata_are_unbiased_over_all_points)
{
    enum { RATE = 6, OUTCOMES = 6 * 6 * 6 * 6, ALLOCATIONS = 7 };
    static const uint64_t sizes[ALLOCATIONS] = {5, 1, 4, 5, 9, 3, 5};
    uint64_t points[ALLOCATIONS] = {0};
    uint64_t sampled_twice = 0;

    for (unsigned outcome = 0; outcome < OUTCOMES; outcome++) {
        struct odometer odometer = {
            {outcome % 6, outcome / 6 % 6, outcome / 36 % 6, outcome / 216}, 0};
        struct subjects_stratum stratum = {0};

        for (int i = 0; i < ALLOCATIONS; i++) {
            const uint64_t n = subjects_stratum_step(&stratum, RATE, sizes[i],
                                                     next_digit, &odometer);

            points[i] += n;
            sampled_twice += n > 1;
        }
    }
    for (int i = 0; i < ALLOCATIONS; i++)
        assert_int_equal(points[i] * RATE, sizes[i] >= RATE
                                               ? (uint64_t)OUTCOMES * RATE
                                               : sizes[i] * OUTCOMES);
    assert_true(sampled_twice > 0);
}

/* ---- the effects ---- */

static struct subjects_effects
effects_of(const struct subjects_rules *rules, uint64_t size_bytes)
{
    return subjects_effects(rules, 4096, size_bytes);
}

TEST(effects_are_as_the_sources_say)
{
    const double x = 16.0 / 4096;

    assert_int_equal(effects_of(&subjects_jemalloc, 16).zero_ticks, 8);
    assert_int_equal(effects_of(&subjects_tcmalloc, 16).zero_ticks, 1);
    assert_int_equal(effects_of(&subjects_heapprofd, 16).zero_ticks, 0);
    assert_int_equal(effects_of(&subjects_statmemprof, 16).zero_ticks, 1);
    /* 16 bytes aligned to 64 are of the class of 64. */
    CHECK_NEAR(effects_of(&subjects_jemalloc, 16).aligned_64, 4, 1e-3,
               "effect");
    assert_true(effects_of(&subjects_libdatadog, 16).aligned_4096 == 0);
    CHECK_NEAR(effects_of(&subjects_libdatadog, 16).aligned_64, 1.0001, 5e-5,
               "effect");
    assert_true(effects_of(&subjects_libdatadog, 16).realloc_moved == 0);
    assert_true(effects_of(&subjects_tcmalloc, 16).realloc_moved == 1);
    assert_true(effects_of(&subjects_tcmalloc, 16).realloc_place == 0);
    assert_true(effects_of(&subjects_jemalloc, 16).realloc_place == 1);
    /* The first countdown of V8 is R, of count-and-force 1, of a uniform gap as
     * likely as any other. */
    assert_true(effects_of(&subjects_v8_nodes, 16).ten == 0);
    CHECK_NEAR(effects_of(&subjects_count_and_force, 16).first, 100, 1e-9,
               "effect");
    CHECK_NEAR(effects_of(&subjects_uniform2r, 16).first,
               17.0 / 8192 / (1 - exp(-x)), 1e-9, "effect");
    CHECK_NEAR(effects_of(&subjects_exact, 16).first, 1, 1e-9, "effect");
    assert_true(effects_of(&subjects_jfr, 16).ten == 0);
    assert_true(effects_of(&subjects_jfr, 16).aligned_64 == 1);
    /* What follows a change of the rate. */
    CHECK_NEAR(effects_of(&subjects_go1_24, 16).doubled_new,
               1 / (1 - exp(-x / 2)), 1e-6, "effect");
    CHECK_NEAR(effects_of(&subjects_go1_17, 16).doubled_new,
               (1 - exp(-x)) / (1 - exp(-x / 2)), 1e-3, "effect");
    CHECK_NEAR(effects_of(&subjects_go1_17, 16).doubled_old,
               (1 - exp(-x)) / (1 - exp(-x / 2)), 1e-9, "effect");
    CHECK_NEAR(effects_of(&subjects_exact, 16).doubled_new, 1, 1e-9, "effect");
    assert_true(effects_of(&subjects_exact, 16).doubled_old == 1);
    assert_true(isnan(effects_of(&subjects_v8_nodes, 16).doubled_new));
    assert_true(effects_of(&subjects_heapprofd, 16).fork == 0);
    assert_true(effects_of(&subjects_libdatadog, 16).fork == 1);
    assert_true(effects_of(&subjects_seastar, 16).full == 0);
    assert_true(isnan(effects_of(&subjects_exact, 16).full));
}

/* Buffers of 100: 40 and 40 fit, the third does not and weighs what was in the
 * buffer, but only sets the base the first time; one that is larger than a
 * buffer weighs what came before it, and itself. */
TEST(a_buffer_is_refilled_as_the_jvm_does)
{
    static const uint64_t sizes[] = {50, 50, 1, 99, 10, 200, 20};
    static const uint64_t weights[] = {0, 0, 0, 0, 100, 200, 0};
    struct subjects_buffer buffer = {0};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(subjects_buffer_step(&buffer, 100, sizes[i]),
                         weights[i]);
}

/* Every 10 bytes, by no draw: of five allocations of 6 bytes three are sampled,
 * for ever in the same order, and no mean is ever reached. */
static size_t
each_ten_bytes(uint64_t rate, struct subjects_piece *pieces)
{
    (void)rate;
    pieces[0] = (struct subjects_piece){
        .from = 10, .length = 1, .first = 1, .ratio = 1};
    return 1;
}

TEST(what_does_not_settle_is_no_figure)
{
    struct subjects_rules rules = subjects_heapprofd;
    const uint64_t size_bytes = 6;
    double mean;

    subjects_mean(&rules, 10, &size_bytes, 1, &mean);
    if (isnan(mean))
        fail_msg("a law that settles has no mean");
    rules.pieces = each_ten_bytes;
    subjects_mean(&rules, 10, &size_bytes, 1, &mean);
    if (!isnan(mean))
        fail_msg("the mean is %g", mean);
    if (!isnan(subjects_variance(&rules, 10, size_bytes)))
        fail_msg("there is a variance without a mean");
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
