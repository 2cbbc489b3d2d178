/*
 * test_sampling.c -- sampling under every rule set: enumerations, figures
 * measured on a real Go runtime, and the random number generators.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "props/sampling/checker.h"
#include "model/heap/heap_sampler.h"
#include "props/sampling/sampling_fixture.h"
#include "model/heap/sampling.h"
#include "props/sampling/stream.h"
#include "common/test/unit_test.h"

/* ---- checkers ---- */

TEST(every_rule_set_follows_its_own_formula)
{
    for (int i = 0; prof_rules_all[i] != NULL; i++) {
        for (int p = 0; p < PROPS_COUNT; p++) {
            const struct props_question question = {prof_rules_all[i], NULL,
                                                    false};
            struct props_finding finding;

            if (!props_checker_run((enum props_property)p, &question, &finding))
                continue;
            if (finding.failed)
                fail_msg("%s, %s: %s", prof_rules_all[i]->name,
                         props_property_id((enum props_property)p),
                         finding.text);
            assert_true(finding.cells > 100);
        }
    }
}

/* The largest deviation of any mean from the truth, 0 if all are right. */
static double
worst_of(const struct prof_rules *rules, enum props_property property)
{
    const struct props_question question = {rules, NULL, true};
    struct props_finding finding;

    assert_true(props_checker_run(property, &question, &finding));
    assert_true(!finding.failed || finding.deviation != 0);
    return finding.deviation;
}

TEST(only_exact_rules_are_right_on_average)
{
    for (int p = 0; p < PROPS_U1; p++) { /* the library's properties */
        if (props_checker_exists((enum props_property)p))
            assert_true(worst_of(&prof_rules_exact, (enum props_property)p) ==
                        0);
    }
    /* With c = 1, c + 1 of 2^32 random numbers keep an event: two in 2^32. */
    assert_true(worst_of(&prof_rules_go1_10, PROPS_S2) == 0x1p-31 - 1);
    /* Each event that is kept counts as 2^40 ticks. */
    assert_true(worst_of(&prof_rules_go1_17, PROPS_S2) == 511);
    assert_true(worst_of(&prof_rules_go1_5, PROPS_S2) < -0.9);
    assert_true(worst_of(&prof_rules_go1_17, PROPS_S3) != 0);
    assert_true(worst_of(&prof_rules_go1_17, PROPS_S4) != 0);
    assert_true(worst_of(&prof_rules_go1_17, PROPS_S1) != 0);
}

/* ---- figures seen on a live runtime ---- */

static double
time_factor(enum model_era era, uint64_t cycles, uint64_t rate)
{
    const struct model_sums sums =
        model_block_sums(era, model_era_draws(era), cycles, rate);

    return model_factors_of(&sums, cycles).cycles;
}

TEST(formulas_give_the_figures_of_a_live_go_runtime)
{
    /* Figures from two million events each on Go 1.19; three digits are
     * certain. */
    assert_true(fabs(time_factor(MODEL_GO_1_17, 1, 10) - 2.0) < 1e-8);
    assert_true(fabs(time_factor(MODEL_GO_1_17, 2, 10) - 1.5) < 1e-8);
    assert_true(fabs(time_factor(MODEL_GO_1_17, 9, 10) - 10.0 / 9) < 1e-8);
    assert_true(fabs(time_factor(MODEL_GO_1_17, 1000000, 3000000000) - 1.397) <
                0.0005);
    assert_true(fabs(time_factor(MODEL_GO_1_17, 1000000, UINT64_C(1) << 34) -
                     4.0) < 0.0005);
    assert_true(fabs(time_factor(MODEL_GO_1_17, 1000000, UINT64_C(1) << 40) -
                     256.0) < 0.0005);
    /* At a rate of one second, waits of 1000 ticks. */
    assert_true(fabs(time_factor(MODEL_GO_1_17, 1000, 2600000000) - 1.212) <
                0.0005);
    assert_true(fabs(time_factor(MODEL_GO_1_17, 1000, 3000000000) - 1.398) <
                0.0005);
}

/* ---- generators ---- */

/* Resume a generator from `state`; it must continue from `wanted`. */
static void
check_resume(const struct prof_rules *rules, uint64_t state, uint64_t wanted)
{
    struct props_fixture fixture;

    assert_true(props_fixture_begin(&fixture, rules));
    prof_proc_rng_resume(fixture.proc, state);
    assert_true(prof_proc_rng_state(fixture.proc) == wanted);
    props_fixture_end(&fixture);
}

/* Bits that the generator does not have are cut off; a state of 0 becomes 1. */
TEST(an_impossible_state_becomes_a_possible_one)
{
    static const uint64_t states[] = {
        0, 1, INT32_MAX, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_MAX};
    static const uint64_t of_31_bits[] = {1, 1, INT32_MAX, 1, 1, INT32_MAX};

    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        check_resume(&prof_rules_go1_5, states[i], of_31_bits[i]);
        check_resume(&prof_rules_go1_10, states[i], i == 0 ? 1 : states[i]);
        check_resume(&prof_rules_exact, states[i], states[i]);
    }
}

/* ---- unsampling ---- */

struct unsampling {
    struct prof_heap_sum recorded;
    int64_t rate;
    struct prof_heap_sum want;
};

static void
check_unsampling(const struct prof_rules *rules,
                 const struct unsampling *vectors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct prof_heap_sum got =
            prof_heap_unsample(rules, vectors[i].recorded, vectors[i].rate);

        assert_int_equal(got.objects, vectors[i].want.objects);
        assert_int_equal(got.bytes, vectors[i].want.bytes);
    }
}

TEST(unsampling_gives_go_s_vectors)
{
    static const struct unsampling vectors[] = {
        {{4, 4096}, 524288, {2050, 2099200}},
        {{3, 3072}, 524288, {1537, 1574400}},
        {{1, 524288}, 524288, {1, 829411}},
        {{1, 16}, 524288, {32768, 524296}},
        {{-1, -16}, 524288, {-32768, -524296}},
        {{7, 700}, 2, {7, 700}},
        {{1, 1}, 2, {2, 2}},
        {{5, 500}, 1, {5, 500}},
        {{5, 500}, 0, {5, 500}},
        {{0, 500}, 512, {0, 0}},
        {{5, 0}, 512, {0, 0}},
    };

    check_unsampling(&prof_rules_go1_17, vectors,
                     sizeof vectors / sizeof *vectors);
}

/* With the exact rule set. A factor e / (e - 1) is 1.58198. */
TEST(exact_unsampling_rounds_to_the_nearest_and_saturates)
{
    static const struct unsampling vectors[] = {
        {{1, 524288}, 524288, {2, 829411}},
        {{-1, -524288}, 524288, {-2, -829411}},
        {{10, 5242880}, 524288, {16, 8294114}},
        {{3, 3000000}, 10, {3, 3000000}},
        {{4, 2}, 512, {4098, 2049}}, /* objects of half a byte: the factor is
                                      * 1024.5 */
        {{INT64_MAX, INT64_MAX}, 512, {INT64_MAX, INT64_MAX}},
        {{-INT64_MAX, -INT64_MAX}, 512, {INT64_MIN, INT64_MIN}},
        {{1, INT64_MAX}, 2, {1, INT64_MAX}}, /* INT64_MAX is 2^63 as a double */
        {{-1, INT64_MIN}, 2, {-1, INT64_MIN}},
    };

    check_unsampling(&prof_rules_exact, vectors,
                     sizeof vectors / sizeof *vectors);
}
