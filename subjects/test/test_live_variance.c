/*
 * test_live_variance.c -- the variance of live bytes, compared with an
 * enumeration of all outcomes of a small history, and with figures by hand.
 *
 * build: cflags=-O2
 */
#include <math.h>

#include "subjects/test/check_near.h"
#include "subjects/live_variance.h"
#include "subjects/strata.h"
#include "common/test/unit_test.h"

enum { OBJECTS = 7, RATE = 6, BLOCKS = 4 };

/* All but the last are of one size class, 24 bytes in all: four blocks of
 * R = 6. */
static const struct subjects_object objects[OBJECTS] = {
    {4, 4, UINT64_MAX},  {4, 8, 11},  {3, 11, UINT64_MAX}, {4, 15, 20},
    {1, 16, UINT64_MAX}, {4, 20, 24}, {4, 24, UINT64_MAX}};
static const struct subjects_history history = {objects, OBJECTS, 24};

static bool
lives(const struct subjects_object *object, int moment)
{
    const double now = 24.0 * (moment + 1) / SUBJECTS_MOMENTS;

    return (double)object->born <= now && (double)object->died > now;
}

struct points {
    unsigned left; /* the outcome's digits that are left, to base R */
};

static uint64_t
next_point(void *context, uint64_t rate)
{
    struct points *points = context;
    const unsigned digit = points->left % (unsigned)rate;

    points->left /= (unsigned)rate;
    return digit;
}

/* The squared error of one outcome, averaged over the moments. */
static double
squared_error(const uint64_t *found)
{
    double sum = 0;

    for (int k = 0; k < SUBJECTS_MOMENTS; k++) {
        double error = 0;

        for (int i = 0; i < OBJECTS; i++) {
            if (lives(&objects[i], k))
                error +=
                    (double)(found[i] * RATE) - (double)objects[i].size_bytes;
        }
        sum += error * error;
    }
    return sum / SUBJECTS_MOMENTS;
}

TEST(strata_vary_as_all_their_outcomes_do)
{
    const unsigned outcomes = 6 * 6 * 6 * 6;
    const struct subjects_live live = subjects_live_strata(&history, RATE);
    double squares = 0;
    double samples = 0;

    for (unsigned outcome = 0; outcome < outcomes; outcome++) {
        struct subjects_stratum stratum = {0};
        struct points points = {outcome};
        uint64_t found[OBJECTS];

        for (int i = 0; i < OBJECTS; i++) {
            found[i] = subjects_stratum_step(
                &stratum, RATE, objects[i].size_bytes, next_point, &points);
            samples += found[i] > 0;
        }
        squares += squared_error(found);
    }
    CHECK_NEAR(live.variance, squares / outcomes, 1e-9, "variance");
    CHECK_NEAR(live.samples, samples / outcomes, 1e-9, "samples");
}

TEST(independent_samples_vary_as_their_chances_say)
{
    const struct subjects_live live = subjects_live_exact(&history, RATE);
    double variance = 0;
    double samples = 0;

    for (int i = 0; i < OBJECTS; i++) {
        const double size = (double)objects[i].size_bytes;
        const double chance = 1 - exp(-size / RATE);
        int alive = 0;

        for (int k = 0; k < SUBJECTS_MOMENTS; k++)
            alive += lives(&objects[i], k);
        samples += chance;
        variance +=
            size * size * (1 - chance) / chance * alive / SUBJECTS_MOMENTS;
    }
    CHECK_NEAR(live.variance, variance, 1e-9, "variance");
    CHECK_NEAR(live.samples, samples, 1e-9, "samples");
}

/* There are 100 objects of size S, which all stay live, and 100 of size 2 S, of
 * which one in four does. The best chance of an object is in proportion to its
 * size times the root of the share that lives: S * 1 = 2 S * 1/2. So 20 samples
 * of 200 objects give each a chance of 1/10, and the variance of the live bytes
 * is 100 S^2 * 9 + 25 (2 S)^2 * 9. Sampling by bytes, with 20 samples and R =
 * 15 S, would give 100 S^2 * 14 + 25 (2 S)^2 * 6.5. */
TEST(best_chances_weigh_sizes_by_how_they_live)
{
    enum { COUNT = 200, SIZE = 64 };
    struct subjects_object two[COUNT];
    const struct subjects_history all = {two, COUNT, COUNT * 96};
    struct subjects_live best;

    /* The estimate treats all as allocated before the first moment. */
    for (int i = 0; i < COUNT; i++)
        two[i] =
            (struct subjects_object){i % 2 == 0 ? SIZE : 2 * SIZE, 1,
                                     i % 2 == 0 || i % 8 == 1 ? UINT64_MAX : 2};
    best = subjects_live_best_chances(&all, 20);
    CHECK_NEAR(best.samples, 20, 1e-6, "samples");
    CHECK_NEAR(best.variance / (SIZE * SIZE), 900 + 900, 1e-3, "variance");
}

TEST(the_best_strata_are_no_worse_than_one_rate)
{
    double rate;
    const struct subjects_live one =
        subjects_live_strata_of(&history, 4, &rate);
    const struct subjects_live best = subjects_live_best_strata(&history, 4);

    CHECK_NEAR(one.samples, 4, 0.05, "samples");
    assert_true(best.samples <= 4 + 1e-9);
    assert_true(best.variance <=
                subjects_live_strata(&history, rate * sqrt(2)).variance);
    CHECK_NEAR(subjects_live_strata(&history, rate).variance, one.variance,
               1e-9, "one rate");
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
