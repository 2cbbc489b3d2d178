/*
 * uniform2r.c -- mimalloc-pprof (src/profile.c): a uniform gap that is drawn
 * anew after each sample.
 *
 *   draw      a number below 2R, 0 made 1
 *   rule      the allocation that brings the bytes since the last sample to
 *             the drawn gap is sampled
 *   estimate  by the reader, S / (1 - e^(-x)): the formula of a different rule
 *
 * The reader rounds towards zero; this is left out, as many samples hide it.
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    /* Replaces the modulo 2R: it is as uniform, and grows with the number. */
    const uint64_t gap =
        (uint64_t)(((__extension__(unsigned __int128) number) * (2 * rate)) >>
                   53);

    return gap == 0 ? 1 : gap;
}

static double
above(uint64_t rate, uint64_t n)
{
    if (n == 0)
        return 1;
    return n >= 2 * rate ? 0 : (double)(2 * rate - 1 - n) / (double)(2 * rate);
}

const struct subjects_rules subjects_uniform2r = {
    .name = "uniform2r",
    .of = "mimalloc-pprof, a uniform gap below 2R",
    .source = "zackees/mimalloc-pprof @6fcb1966",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_PLACE,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = false,
                .scales_by_site = true},
    .threshold = threshold,
    .number_bits = 53,
    .number_grows = true,
    .above = above,
    .estimate = subjects_estimate_scaled,
};
