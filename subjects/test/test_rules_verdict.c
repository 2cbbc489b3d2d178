/*
 * test_rules_verdict.c -- verdicts on rule sets: correct ones hold; for each
 * known mistake the verdict names it, with a figure that is computed
 * independently here, and with the smallest period that shows it.
 *
 * build: cflags=-O2
 */
#include <math.h>
#include <string.h>

#include "subjects/test/check_near.h"
#include "subjects/rules/rule_sets.h"
#include "common/test/unit_test.h"
#include "subjects/verdict.h"

enum { RATE = 4096 };

/* P(an object of `bytes` bytes is sampled) by a sampler that starts anew with
 * each object. */
static double
chance(double bytes)
{
    return -expm1(-bytes / RATE);
}

TEST(what_is_right_holds)
{
    static const struct subjects_rules *const right[] = {
        &subjects_exact, &subjects_min_variance, &subjects_heapprofd,
        &subjects_jemalloc};
    struct subjects_verdict verdict;

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        subjects_verdict_make(&verdict, right[i], RATE);
        assert_int_equal(verdict.count, 0);
        assert_true(verdict.tried > 20);
    }
}

static double
give_nan(const struct subjects_sample *sample)
{
    (void)sample;
    return NAN;
}

TEST(what_is_no_number_is_wrong)
{
    struct subjects_rules rules = subjects_exact;
    struct subjects_verdict verdict;

    rules.estimate = give_nan;
    subjects_verdict_make(&verdict, &rules, RATE);
    assert_true(verdict.count > 0);
    assert_string_equal(verdict.faults[0].what, "a size by itself");
    assert_true(isnan(verdict.faults[0].figure));
}

static uint64_t
one_tick(uint64_t rate, uint64_t size_bytes)
{
    (void)rate;
    (void)size_bytes;
    return 1;
}

static double
scale_by_objects(const struct subjects_sample *sample)
{
    return (double)sample->size_bytes / -expm1(-1 / (double)sample->rate);
}

/* A countdown of objects instead of bytes samples not even the largest object
 * for sure; its estimates make up for that. */
TEST(what_counts_objects_is_right)
{
    struct subjects_rules rules = subjects_exact;
    struct subjects_verdict verdict;

    rules.ticks = one_tick;
    rules.estimate = scale_by_objects;
    subjects_verdict_make(&verdict, &rules, RATE);
    if (verdict.count > 0)
        fail_msg("%s: %s: %g", verdict.faults[0].property,
                 verdict.faults[0].what, verdict.faults[0].figure);
}

TEST(each_mistake_is_named)
{
    static const struct {
        const struct subjects_rules *rules;
        const char *property;
        const char *what;
        size_t period;
        uint64_t size_bytes;
    } cases[] = {
        {&subjects_site_mean, "U1", "objects of a site with both sizes", 2, 16},
        {&subjects_wrapping_weight, "V1", "the largest size", 1, INT64_MAX},
        {&subjects_own_size, "U1", "a size by itself", 1, 16},
        {&subjects_after_refill, "U3", "a size among others", 2, 16},
        {&subjects_raw_live, "U1", "live objects", 1, 16},
        {&subjects_max_rate, "U1", "a size by itself", 1, 128},
        {&subjects_buffer_size, "U3", "a size among others", 2, 16},
    };
    const double both = (chance(16) + chance(RATE)) / 2;
    const double mean = (16 * chance(16) + RATE * chance(RATE)) / 2 / both;
    const double figures[] = {
        both / chance(mean),
        -1,
        chance(16),
        chance(32) / chance(16),
        chance(16),
        chance(128) * RATE / 128,
        0,
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct subjects_verdict verdict;
        const struct subjects_fault *const fault = &verdict.faults[0];

        subjects_verdict_make(&verdict, cases[i].rules, RATE);
        assert_true(verdict.count > 0);
        assert_string_equal(fault->property, cases[i].property);
        assert_string_equal(fault->what, cases[i].what);
        assert_int_equal(fault->count, cases[i].period);
        assert_int_equal(fault->size_bytes, cases[i].size_bytes);
        CHECK_NEAR(fault->figure, figures[i], 1e-6, "%s", cases[i].rules->name);
    }
}

/* Go's reader scales by the current rate; V8's first threshold is the rate
 * itself. */
TEST(effects_are_judged)
{
    struct subjects_verdict verdict;

    subjects_verdict_make(&verdict, &subjects_go1_17, RATE);
    assert_int_equal(verdict.count, 2);
    assert_string_equal(verdict.faults[0].property, "G1");
    assert_string_equal(verdict.faults[1].what,
                        "what was recorded before the rate doubled");
    CHECK_NEAR(verdict.faults[1].figure, 1 + exp(-16.0 / RATE / 2), 1e-9,
               "go1.17");
    subjects_verdict_make(&verdict, &subjects_v8_nodes, RATE);
    assert_string_equal(verdict.faults[1].property, "U2");
    assert_true(verdict.faults[1].figure == 0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
