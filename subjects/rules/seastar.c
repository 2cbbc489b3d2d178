/*
 * seastar.c -- the sampler of Seastar (include/seastar/util/sampler.hh).
 *
 *   draw      floor(E), E exponential of mean R, is added to a countdown c
 *   rule      c -= S; sampled if c < 0. After a sampled block of S > R, c += S
 *             undoes the subtraction; after a smaller one, draws are added
 *             until c >= 0
 *   estimate  max(S, R)
 *
 * For S <= R, P(sampled) = 1 - e^(-x) with weight R, so 0.6321 of the truth at
 * S = R. Whether a larger block is sampled depends only on c, and a sampled one
 * leaves c unchanged: after the first, all are sampled until a small block
 * draws again.
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    return (uint64_t)subjects_law_exponential((double)rate, number);
}

const struct subjects_rules subjects_seastar = {
    .name = "seastar",
    .of = "Seastar",
    .source = "scylladb/seastar @525fcc86",
    .chain = SUBJECTS_KEPT,
    .manners = {.realloc = SUBJECTS_REALLOC_COUNTS,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_DRAWS,
                .weight_is_recorded = false,
                .table_entries = 1000},
    .threshold = threshold,
    .number_bits = 53,
    .estimate = subjects_estimate_max,
};
