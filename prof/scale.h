/* scale.h -- from sampled allocations to those that happened. */
#ifndef PROF_SCALE_H
#define PROF_SCALE_H

#include <stdint.h>

struct scaled {
    int64_t objects;
    int64_t bytes;
};

/*
 * in:      objects, sampled, of `size_bytes` each; rate_bytes, mean distance
 *          of samples, at most 1: all was recorded
 * returns: the estimate, cut towards zero
 */
struct scaled prof_scale(int64_t objects, uint64_t size_bytes,
                         int64_t rate_bytes);

#endif
