/*
 * heapprofd.c -- heapprofd of Android (src/profiling/memory/sampler.h).
 *
 *   draw      floor(E) + 1, E exponential of mean R: geometric, mean R + 0.5
 *   rule      S >= R: weight S, and the countdown stays as it is. Else each
 *             point that is reached counts; the overshoot is carried over
 *   estimate  R per point
 *
 * Sizes below R are estimated at R (1 - e^(-1/R)) of the truth: 0.9999 for R =
 * 4096, 0.94 for R = 8.
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    return (uint64_t)subjects_law_exponential((double)rate, number) + 1;
}

static size_t
pieces(uint64_t rate, struct subjects_piece *pieces)
{
    pieces[0] = (struct subjects_piece){.from = 1,
                                        .first = -expm1(-1 / (double)rate),
                                        .ratio = exp(-1 / (double)rate)};
    return 1;
}

static bool
always(uint64_t rate, uint64_t size_bytes)
{
    return size_bytes >= rate;
}

const struct subjects_rules subjects_heapprofd = {
    .name = "heapprofd",
    .of = "heapprofd of Android",
    .source = "google/perfetto @ec5d16b1",
    .chain = SUBJECTS_CARRIED,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_STOPS,
                .rate = SUBJECTS_RATE_DRAWS,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .pieces = pieces,
    .always = always,
    .estimate = subjects_estimate_max,
    .by_points = true,
};
