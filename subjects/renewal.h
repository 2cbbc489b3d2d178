/*
 * renewal.h -- what RENEWAL rule sets report on average, enumerated.
 *
 * A period of sizes is allocated for ever by one thread. What comes after a
 * sample does not depend on what came before it, so the positions at which
 * samples fall are a Markov chain:
 *
 *      period      16   R   16   R   16   R
 *                   ^ sample at position 0
 *                       1    0    1    0      k = 1, 2, 3, 4: the next sample
 *                                             falls there with chance
 *                                             above(sum before) - above(sum)
 *
 * From each position every k is tried until less than 1e-15 of the chance is
 * left. The chain's stationary distribution weights the estimates of the
 * samples. No random number is drawn.
 */
#ifndef SUBJECTS_RENEWAL_H
#define SUBJECTS_RENEWAL_H

#include "subjects/figures.h"

/* Implement subjects_mean(), subjects_variance() and subjects_short()
 * (figures.h) for RENEWAL rule sets. */
void subjects_renewal_mean(const struct subjects_rules *rules, uint64_t rate,
                           const uint64_t *sizes, size_t count, double *mean);
double subjects_renewal_variance(const struct subjects_rules *rules,
                                 uint64_t rate, uint64_t size_bytes);
double subjects_renewal_short(const struct subjects_rules *rules, uint64_t rate,
                              uint64_t size_bytes, size_t allocations);

#endif
