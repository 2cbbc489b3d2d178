/*
 * seastar.c -- the sampler of Seastar (include/seastar/util/sampler.hh).
 *
 *   draw      floor(E), E exponential of mean R, is added to a countdown c
 *   rule      c -= S; sampled if c < 0. Then, if S > R, c += S, which undoes
 *             the step; else draws are added until c >= 0
 *   estimate  max(S, R)
 *
 * S <= R: P = 1 - e^(-x) and weight R, 0.6321 at S = R. Whether a larger block
 * is sampled depends on the state alone, and a sampled one leaves the state
 * unchanged: after the first one all are sampled, until a small block draws
 * again.
 */
#include "law.h"
#include "rule_sets.h"

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
