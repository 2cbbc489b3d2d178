/*
 * min_variance.c -- exact, but sized so that live bytes vary least.
 *
 *   draw      as exact
 *   rule      as exact, on ticks t(S) = -R ln(1 - p(S)) instead of bytes, so
 *             that P(sampled) = 1 - e^(-t/R) is p(S); S >= R is sampled always
 *   estimate  S / (1 - e^(-t/R))
 *
 * Any p(S) > 0 is unbiased this way, whole ticks or not: a sample is weighed by
 * the chance that it really had. Here p = S / R, which has the least variance
 * when all sizes live alike; min_variance.h weighs sizes by how they live.
 */
#include "min_variance.h"

#include <math.h>

#include "law.h"
#include "rule_sets.h"

uint64_t
subjects_ticks_of_chance(uint64_t rate, double chance)
{
    const double ticks = ceil(-(double)rate * log1p(-chance));

    return ticks < 1 ? 1 : (uint64_t)ticks;
}

static uint64_t
ticks(uint64_t rate, uint64_t size_bytes)
{
    return size_bytes >= rate ? size_bytes
                              : subjects_ticks_of_chance(
                                    rate, (double)size_bytes / (double)rate);
}

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    return 1 + (uint64_t)subjects_law_exponential((double)rate, number);
}

static double
above(uint64_t rate, uint64_t n)
{
    return subjects_law_survives((double)rate, n);
}

static bool
always(uint64_t rate, uint64_t size_bytes)
{
    return size_bytes >= rate;
}

static double
estimate(const struct subjects_sample *sample)
{
    const double size = (double)sample->size_bytes;
    const double rate = (double)sample->rate;

    return sample->size_bytes >= sample->rate
               ? size
               : size /
                     -expm1(-(double)ticks(sample->rate, sample->size_bytes) /
                            rate);
}

const struct subjects_rules subjects_min_variance = {
    .name = "exact-min-variance",
    .of = "this project's sampler, chances by size",
    .source = "subjects/min_variance.c",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_DRAWS,
                .weight_is_recorded = true},
    .ticks = ticks,
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .always = always,
    .estimate = estimate,
};
