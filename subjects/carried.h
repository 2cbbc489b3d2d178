/*
 * carried.h -- what CARRIED rule sets report on average, enumerated.
 *
 * Points lie at ticks, each a random gap behind the one before:
 *
 *      ticks   0 1 2 3 4 5 6 7 8 9
 *      points      .         .     .
 *      blocks  [   16    ][ 3 ][  ...
 *
 * The state is the position of the next point. The gap's distribution is a few
 * geometric pieces (struct subjects_piece), and each piece has one running
 * value: the chance that the next point is at the current tick. A point that is
 * reached with chance c adds c * first to it where the piece begins, and
 * subtracts the remainder where the piece ends. So a tick costs a few
 * additions, and no table is needed.
 *
 * Each chance c = P(state) is kept together with b = E[Y; state], where Y is
 * the estimate so far minus its mean. The variance follows from c and b.
 */
#ifndef SUBJECTS_CARRIED_H
#define SUBJECTS_CARRIED_H

#include "subjects/figures.h"

/* Implement subjects_mean(), subjects_variance() and subjects_short()
 * (figures.h) for CARRIED rule sets. A mean or variance that does not converge
 * is NAN. */
void subjects_carried_mean(const struct subjects_rules *rules, uint64_t rate,
                           const uint64_t *sizes, size_t count, double *mean);
double subjects_carried_variance(const struct subjects_rules *rules,
                                 uint64_t rate, uint64_t size_bytes);
double subjects_carried_short(const struct subjects_rules *rules, uint64_t rate,
                              uint64_t size_bytes, size_t allocations);

#endif
