/*
 * min_variance.c -- like `exact`, but live bytes vary less (strata.h).
 *
 * The allocations of a size class, one after another, are cut into blocks of R
 * bytes, each with one point.
 *
 *   draw      where in its block a point lies: a number below R
 *   rule      an allocation with a point in it is sampled; from R up always
 *   estimate  R per point; from R up, the size itself
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    return (uint64_t)(((__extension__(unsigned __int128) number) * rate) >> 53);
}

const struct subjects_rules subjects_min_variance = {
    .name = "exact-min-variance",
    .of = "this project's proposal: a point in each block of R, by size class",
    .source = "subjects/strata.h",
    .chain = SUBJECTS_STRATA,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = true},
    .threshold = threshold,
    .number_bits = 53,
    .number_grows = true,
    .estimate = subjects_estimate_max,
    .by_points = true,
};
