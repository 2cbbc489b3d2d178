/*
 * gperftools.c -- the sampler of gperftools (src/sampler.cc).
 *
 *   draw      G = floor(E), E of 26 bits
 *   rule      sampled if fewer bytes are left than the size: the bytes since
 *             the last sample reach G + 1
 *   estimate  by the reader, per site, with the mean size: S / (1 - e^(-x))
 *
 * P(sampled) = 1 - e^(-S/R), as exactly as 26 bits allow.
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    return (uint64_t)subjects_law_26_bits(rate, number) + 1;
}

static double
above(uint64_t rate, uint64_t n)
{
    return n == 0 ? 1 : subjects_law_26_bits_least(rate, n);
}

const struct subjects_rules subjects_gperftools = {
    .name = "gperftools",
    .of = "gperftools, the sampler",
    .source = "gperftools/gperftools @07c5e922",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_PLACE,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = false,
                .scales_by_site = true},
    .threshold = threshold,
    .number_bits = 26,
    .above = above,
    .estimate = subjects_estimate_scaled,
};
