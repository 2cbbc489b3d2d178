/*
 * exact.c -- this project's own sampler (docs/sampling.md, "The heap sampler").
 *
 *   draw      1 + U + R V: U below R, accepted with probability e^(-U/R), V the
 *             number of successes before the first failure in trials of
 *             probability 1/e
 *   rule      the allocation that brings the bytes since the last sample to
 *             the drawn gap is sampled
 *   estimate  S / (1 - e^(-x)); the rate is stored with the record
 *
 * P(gap > n) = e^(-n/R) for whole n, exactly; here the gap is drawn by a
 * logarithm instead, which gives the same distribution except for the last of
 * 53 bits. "max-rate" credits each sample with max(S, R), as async-profiler
 * does. The other rule sets below use the same draw, too; each has a mistake
 * that has since been fixed.
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

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

const struct subjects_rules subjects_exact = {
    .name = "exact",
    .of = "this project's sampler",
    .source = "prof/, rules exact",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_DRAWS,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = subjects_estimate_scaled,
};

const struct subjects_rules subjects_max_rate = {
    .name = "max-rate",
    .of = "async-profiler, max(S, R) a sample",
    .source = "async-profiler/async-profiler#900",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = subjects_estimate_max,
};

static double
own_size(const struct subjects_sample *sample)
{
    return (double)sample->size_bytes;
}

const struct subjects_rules subjects_own_size = {
    .name = "own-size",
    .of = "async-profiler before 3.0, a sample counts its own bytes",
    .source = "async-profiler/async-profiler#873",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = own_size,
};

const struct subjects_rules subjects_raw_live = {
    .name = "raw-live",
    .of = "dd-trace-py before #17002, live bytes are those of samples",
    .source = "DataDog/dd-trace-py#17002",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = subjects_estimate_scaled,
    .live = own_size,
};

const struct subjects_rules subjects_after_refill = {
    .name = "after-refill",
    .of = "OpenJ9, the first object after a refill is sampled",
    .source = "eclipse-openj9/openj9#7740",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = subjects_estimate_scaled,
    .samples_next = true,
};

const struct subjects_rules subjects_site_mean = {
    .name = "site-mean",
    .of = "jemalloc before 5.3, a site is scaled by its mean size",
    .source = "jemalloc/jemalloc#1897",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .scales_by_site = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = subjects_estimate_scaled,
};

/* Computes in whole numbers that wrap. */
static double
wrapping(const struct subjects_sample *sample)
{
    return (double)(int64_t)(sample->rate + sample->sum_ticks -
                             (uint64_t)sample->threshold);
}

const struct subjects_rules subjects_wrapping_weight = {
    .name = "wrapping-weight",
    .of = "google/tcmalloc before 3e4f61d2, the weight wraps",
    .source = "google/tcmalloc 3e4f61d2",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .above = above,
    .estimate = wrapping,
    .needs_threshold = true,
};
