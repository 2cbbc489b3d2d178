/*
 * binomial.h -- exact thresholds for counts of independent events.
 */
#ifndef COMMON_BINOMIAL_H
#define COMMON_BINOMIAL_H

#include <stdbool.h>
#include <stdint.h>

/* The probability that a test fails although nothing is wrong, both tails
 * together. */
#define PROPS_ALPHA 1e-9L

struct props_interval {
    uint64_t least;
    uint64_t most;
};

/*
 * The interval of counts to accept if each of `trials` independent events has
 * the chance p, 0 < p < 1. A count below the interval has a chance of at most
 * alpha / 2, and so has a count above it.
 */
struct props_interval props_binomial_accept(uint64_t trials, long double p,
                                            long double alpha);

#endif
