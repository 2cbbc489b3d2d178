/*
 * since_last.c -- dd-trace-py (_memalloc_heap.cpp): a sample stands for all
 * bytes since the last one.
 *
 *   draw      floor(E), E exponential of mean R + 1
 *   rule      the allocation that brings the bytes since the last sample to
 *             the drawn gap is sampled
 *   estimate  the bytes since the last sample
 *   live      objects are 1 / (1 - e^(-x)), rounded down
 *
 * The total is exact by construction. By size it is not: every byte goes to
 * the object that happens to end the interval.
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    return (uint64_t)subjects_law_exponential((double)rate + 1, number);
}

static double
above(uint64_t rate, uint64_t n)
{
    return subjects_law_survives((double)rate + 1, n + 1);
}

static double
estimate(const struct subjects_sample *sample)
{
    return (double)sample->sum_ticks;
}

static double
live(const struct subjects_sample *sample)
{
    const double size = (double)sample->size_bytes;

    return size * floor(subjects_estimate_scaled(sample) / size);
}

const struct subjects_rules subjects_since_last = {
    .name = "since-last",
    .of = "dd-trace-py, bytes since the last sample",
    .source = "DataDog/dd-trace-py @3bb9ecda",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = true,
                .table_entries = 65535},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = estimate,
    .live = live,
};
