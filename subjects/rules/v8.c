/*
 * v8.c -- V8's SamplingHeapProfiler (sampling-heap-profiler.cc).
 *
 *   draw      u of 52 bits: max(8, floor(-R ln u)), at most 2^31 - 1
 *   rule      the allocation that brings the bytes since the last sample to
 *             the drawn gap is sampled
 *   start     the first countdown of a run is R itself
 *   estimate  by node and size: count / (1 - e^(-x)), rounded to objects
 *
 * floor() lacks the + 1 that would make it geometric: P(sampled) right after a
 * sample is 1 - e^(-(S+1)/R). "v8-samples" is V8's list of single samples. Each
 * is scaled and rounded by itself, so the error does not average out: a sample
 * of S = R stands for 1.58 objects but counts 2 (1.26 times as many), one of
 * S = 1.1 R stands for 1.50 but counts 1 (0.67 times).
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

enum { LEAST = 8 };
#define MOST (((uint64_t)1 << 31) - 1)

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    const double gap =
        -(double)rate * log(((double)number + 0.5) / 4503599627370496.0);

    if (gap < LEAST)
        return LEAST;
    return gap > (double)MOST ? MOST : (uint64_t)gap;
}

static double
above(uint64_t rate, uint64_t n)
{
    if (n < LEAST)
        return 1;
    return n >= MOST ? 0 : subjects_law_survives((double)rate, n + 1);
}

static double
one_sample(const struct subjects_sample *sample)
{
    const double size = (double)sample->size_bytes;

    return size * floor(subjects_estimate_scaled(sample) / size + 0.5);
}

#define V8                                                  \
    .source = "v8/v8 @06bf8261", .chain = SUBJECTS_RENEWAL, \
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,           \
                .fork = SUBJECTS_FORK_COPIES,               \
                .rate = SUBJECTS_RATE_FIXED,                \
                .start = SUBJECTS_START_RATE,               \
                .weight_is_recorded = false},               \
    .threshold = threshold, .number_bits = 52, .above = above

const struct subjects_rules subjects_v8_nodes = {
    .name = "v8-nodes",
    .of = "V8, the tree of sites",
    V8,
    .estimate = subjects_estimate_scaled,
};

const struct subjects_rules subjects_v8_samples = {
    .name = "v8-samples",
    .of = "V8, the list of samples",
    V8,
    .estimate = one_sample,
};
