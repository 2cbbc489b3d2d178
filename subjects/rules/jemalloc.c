/*
 * jemalloc.c -- opt.prof of jemalloc (src/prof.c, src/prof_data.c).
 *
 *   draw      u uniform, a multiple of 2^-53, with 1 in the place of 0:
 *             gap = floor(ln u / ln(1 - 1/R)) + 1, geometric of mean R
 *   rule      the allocation that brings the bytes since the last sample to
 *             the gap is sampled
 *   counted   the size class; malloc(0) counts the smallest
 *   estimate  a table by size class, rounded to whole bytes
 *
 * For a size class of z bytes the table divides by 1 - e^(-z/R), but the draw
 * samples with chance 1 - (1 - 1/R)^z. So estimates are 1/(2R) too high, 3.8 %
 * for z = R = 8, where they are also rounded from 12.66 to 13.
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static const char *
rate_error(uint64_t rate)
{
    return (rate & (rate - 1)) != 0 ? "takes powers of two only" : NULL;
}

/* Four classes in each doubling, from 16 up; 8 below. */
static uint64_t
class_of(uint64_t bytes)
{
    uint64_t step = 16;

    if (bytes <= 8)
        return 8;
    while (step * 8 < bytes)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

static uint64_t
counted(uint64_t size_bytes, uint64_t alignment_bytes)
{
    const uint64_t aligned = alignment_bytes > 16
                                 ? (size_bytes + alignment_bytes - 1) /
                                       alignment_bytes * alignment_bytes
                                 : size_bytes;

    return class_of(aligned);
}

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    const double u = number == 0 ? 1 : (double)number / 9007199254740992.0;

    return rate == 1 ? 1 : (uint64_t)(log(u) / log(1 - 1 / (double)rate)) + 1;
}

static double
above(uint64_t rate, uint64_t n)
{
    return rate == 1 ? n == 0 : exp((double)n * log1p(-1 / (double)rate));
}

static double
estimate(const struct subjects_sample *sample)
{
    return floor(subjects_estimate_scaled(sample) + 0.5);
}

const struct subjects_rules subjects_jemalloc = {
    .name = "jemalloc",
    .of = "jemalloc, opt.prof",
    .source = "jemalloc/jemalloc @295e4894",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = false},
    .rate_error = rate_error,
    .counted = counted,
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = estimate,
};
