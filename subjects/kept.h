/*
 * kept.h -- what KEPT rule sets (Seastar) report on average, enumerated.
 *
 * The state c is how many bytes may pass before the next sample; q = e^(-1/R).
 * A draw is geometric. Whatever c was, adding draws until c >= 0 makes c
 * geometric, too. A small block shifts the whole distribution down by its size.
 * A large block of S bytes shifts only the part from S up, which cuts the
 * distribution at S. So it is always a list of segments,
 *
 *      P(c) = (base + kappa_j) q^c     from cut_j to cut_(j+1)
 *
 * and each block adds at most one cut.
 */
#ifndef SUBJECTS_KEPT_H
#define SUBJECTS_KEPT_H

#include "subjects/figures.h"

/* Implement subjects_mean(), subjects_variance() and subjects_short()
 * (figures.h) for KEPT rule sets. */
void subjects_kept_mean(const struct subjects_rules *rules, uint64_t rate,
                        const uint64_t *sizes, size_t count, double *mean);
double subjects_kept_variance(const struct subjects_rules *rules, uint64_t rate,
                              uint64_t size_bytes);
double subjects_kept_short(const struct subjects_rules *rules, uint64_t rate,
                           uint64_t size_bytes, size_t allocations);

#endif
