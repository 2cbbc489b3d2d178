/*
 * weights.h -- for producers whose weights count the sampling intervals that a
 * block crosses, as the first version of the contract said. So blocks of one
 * size have different weights.
 */
#ifndef SUBJECTS_CONFORM_WEIGHTS_H
#define SUBJECTS_CONFORM_WEIGHTS_H

#include <stdint.h>

/* A smaller number is not accepted as an interval. */
enum { WEIGHTS_INTERVAL_LEAST = 1024 };

/* returns: the largest number that divides both; if one is 0, the other */
static inline uint64_t
weights_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

#endif
