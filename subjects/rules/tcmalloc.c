/*
 * tcmalloc.c -- google/tcmalloc (tcmalloc/sampler.cc).
 *
 *   draw      f = max(1, floor(E)), E of 26 bits
 *   rule      an allocation of k bytes counts as k + 1 ticks, so that size 0
 *             can be sampled; the one that brings the sum of ticks since the
 *             last sample to f is sampled
 *   estimate  W = R + sum - f ticks; W / (k + 1) objects of k bytes
 *
 * f is one less than a geometric number, so an object of k bytes right after a
 * sample has P(sampled) = 1 - e^(-(k+2)/R), and not (k+1)/R: the estimate of a
 * small object that follows a large one is up to 1 / (k+1) too high.
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
ticks(uint64_t rate, uint64_t size_bytes)
{
    (void)rate;
    return size_bytes + 1;
}

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    const uint64_t gap = (uint64_t)subjects_law_26_bits(rate, number);

    return gap < 1 ? 1 : gap;
}

static double
above(uint64_t rate, uint64_t n)
{
    return n == 0 ? 1 : subjects_law_26_bits_least(rate, n + 1);
}

static double
estimate(const struct subjects_sample *sample)
{
    const double weight =
        (double)sample->rate + (double)sample->sum_ticks - sample->threshold;

    return weight * (double)sample->size_bytes /
           (double)(sample->size_bytes + 1);
}

const struct subjects_rules subjects_tcmalloc = {
    .name = "tcmalloc",
    .of = "google/tcmalloc",
    .source = "google/tcmalloc @fce3f55d",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_PLACE,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = true},
    .ticks = ticks,
    .threshold = threshold,
    .number_bits = 26,
    .above = above,
    .estimate = estimate,
    .needs_threshold = true,
};
