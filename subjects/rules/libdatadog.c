/*
 * libdatadog.c -- libdd-profiling-heap-sampler, and its successor "otel".
 *
 *   draw      floor(-R ln(s / (2^31 - 1))), within 8 and 20 R
 *   rule      every point that is reached counts; each whole R of overshoot
 *             counts as one more, without a draw; the rest is carried over
 *   estimate  libdatadog: R per point; otel: S / (1 - e^(-x)) per allocation
 *
 * The smallest gap, 8, matters if R is small: the estimate is 0.7433 of the
 * truth at S = R = 8 (the setter refuses R below 65,536). The largest gap,
 * reached by one draw in 5 10^8, is left out of the distribution. realloc
 * counts nothing; the sample of a block aligned to more than 1,024 is
 * discarded.
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

enum { GAP_LEAST = 8 };

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    const double u = number == 0 ? 1e-10 : (double)number / 2147483647.0;
    const double most = 20 * (double)rate;
    double gap = -log(u) * (double)rate;

    if (gap > most)
        gap = most;
    return gap < GAP_LEAST ? GAP_LEAST : (uint64_t)gap;
}

static size_t
pieces(uint64_t rate, struct subjects_piece *pieces)
{
    const double mean = (double)rate;

    pieces[0] =
        (struct subjects_piece){.from = GAP_LEAST,
                                .length = 1,
                                .first = -expm1(-(GAP_LEAST + 1) / mean),
                                .ratio = 0};
    pieces[1] = (struct subjects_piece){.from = GAP_LEAST + 1,
                                        .first = exp(-(GAP_LEAST + 1) / mean) *
                                                 -expm1(-1 / mean),
                                        .ratio = exp(-1 / mean)};
    return 2;
}

#define SAMPLER                                                          \
    .source = "DataDog/libdatadog @9d6b2ffb", .chain = SUBJECTS_CARRIED, \
    .manners = {.realloc = SUBJECTS_REALLOC_NOTHING,                     \
                .fork = SUBJECTS_FORK_COPIES,                            \
                .rate = SUBJECTS_RATE_NEXT,                              \
                .weight_is_recorded = true,                              \
                .alignment_most_bytes = 1024},                           \
    .threshold = threshold, .number_bits = 31, .pieces = pieces,         \
    .shortcut = true

const struct subjects_rules subjects_libdatadog = {
    .name = "libdatadog",
    .of = "libdatadog, n R",
    SAMPLER,
    .estimate = subjects_estimate_rate,
    .by_points = true,
};

const struct subjects_rules subjects_otel = {
    .name = "otel",
    .of = "OpenTelemetry's contract: libdatadog with S/p",
    SAMPLER,
    .estimate = subjects_estimate_scaled,
};
