/*
 * carried.h -- what CARRIED rule sets report on average, enumerated.
 *
 * Points lie on the line of ticks, each a random gap behind the one before:
 *
 *      ticks   0 1 2 3 4 5 6 7 8 9
 *      points      .         .     .
 *      blocks  [   16    ][ 3 ][  ...
 *
 * The state is the position of the next point. Its distribution is stored in
 * pieces, each with a running value that covers all future ticks: a point
 * reached with probability c adds c * first to the running value where a piece
 * begins, and subtracts what is left of it where the piece ends. So a tick
 * costs a few additions, and the distribution moves on without a table.
 *
 * Beside each chance c = P(state) there is b = E[Y; state], where Y is the
 * estimate so far less its mean. The variance follows from both.
 */
#ifndef SUBJECTS_CARRIED_H
#define SUBJECTS_CARRIED_H

#include "figures.h"

/* As subjects_mean(), subjects_variance(), subjects_short(). A mean or variance
 * that does not settle is NAN. */
void subjects_carried_mean(const struct subjects_rules *rules, uint64_t rate,
                           const uint64_t *sizes, size_t count, double *mean);
double subjects_carried_variance(const struct subjects_rules *rules,
                                 uint64_t rate, uint64_t size_bytes);
double subjects_carried_short(const struct subjects_rules *rules, uint64_t rate,
                              uint64_t size_bytes, size_t allocations);

#endif
