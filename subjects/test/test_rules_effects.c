/*
 * test_rules_effects.c -- sampling rules of other profilers: realloc,
 * alignment, threads, changes of the rate, and small cases worked out by hand.
 *
 * build: cflags=-O2
 */
#include <math.h>

#include "subjects/test/check_near.h"
#include "subjects/effects.h"
#include "subjects/figures.h"
#include "subjects/rules/jfr.h"
#include "subjects/rules/rule_sets.h"
#include "subjects/strata.h"
#include "common/test/unit_test.h"

/* Go 1.5 at R = 2, all sizes 1. A new gap is 0 to 3, a quarter each. Each
 * allocation takes one byte off the gap: 3 becomes 2, and 2 becomes 1. A gap of
 * 1 is used up exactly, so a new gap is drawn; a gap of 0 is overshot by one
 * byte, which is taken off the new gap, at least down to 0: it is 0, 0, 1 or 2.
 * In the long run the gaps 0, 1, 2, 3 have shares 4, 8, 5, 2 of 19; allocations
 * at a gap of 0 or 1 are sampled. */
TEST(go1_5_carries_what_was_overshot)
{
    const uint64_t one = 1;
    double chance;

    subjects_chances(&subjects_go1_5, 2, &one, 1, &chance);
    CHECK_NEAR(chance, 12.0 / 19, 1e-9, "go1.5");
}

/* "Random" numbers that count up like an odometer, so that all combinations
 * occur. */
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

/* At R = 6 there are four blocks, and 6^4 outcomes for their points. Over all
 * of them each allocation is estimated at exactly its size, wherever the blocks
 * begin. */
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
    /* 16 bytes aligned to 64 are in the size class of 64 bytes. */
    CHECK_NEAR(effects_of(&subjects_jemalloc, 16).aligned_64, 4, 1e-3,
               "effect");
    assert_true(effects_of(&subjects_libdatadog, 16).aligned_4096 == 0);
    CHECK_NEAR(effects_of(&subjects_libdatadog, 16).aligned_64, 1.0001, 5e-5,
               "effect");
    assert_true(effects_of(&subjects_libdatadog, 16).realloc_moved == 0);
    assert_true(effects_of(&subjects_tcmalloc, 16).realloc_moved == 1);
    assert_true(effects_of(&subjects_tcmalloc, 16).realloc_place == 0);
    assert_true(effects_of(&subjects_jemalloc, 16).realloc_place == 1);
    /* The first countdown of V8 is R and that of count-and-force is 1; a
     * uniform first gap is like any other. */
    assert_true(effects_of(&subjects_v8_nodes, 16).ten == 0);
    CHECK_NEAR(effects_of(&subjects_count_and_force, 16).first, 100, 1e-9,
               "effect");
    CHECK_NEAR(effects_of(&subjects_uniform2r, 16).first,
               17.0 / 8192 / (1 - exp(-x)), 1e-9, "effect");
    CHECK_NEAR(effects_of(&subjects_exact, 16).first, 1, 1e-9, "effect");
    assert_true(effects_of(&subjects_jfr, 16).ten == 0);
    assert_true(effects_of(&subjects_jfr, 16).aligned_64 == 1);
    /* Effects after a change of the rate. */
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

/* Buffers of 100 bytes. 50 and 50 fill the first. The allocation of 1 needs a
 * second; that event only sets the base, so it weighs 0. 99 fills the second;
 * 10 needs a third, and weighs the 100 bytes of the second. 200 does not fit
 * into any buffer, and weighs itself. 20 fits. */
TEST(a_buffer_is_refilled_as_the_jvm_does)
{
    static const uint64_t sizes[] = {50, 50, 1, 99, 10, 200, 20};
    static const uint64_t weights[] = {0, 0, 0, 0, 100, 200, 0};
    struct subjects_buffer buffer = {0};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(subjects_buffer_step(&buffer, 100, sizes[i]),
                         weights[i]);
}

/* A sample exactly every 10 bytes, nothing random: of five allocations of 6
 * bytes three are sampled, always in the same pattern. So the distribution
 * never settles, and there is no mean. */
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
