/*
 * heap_sampler.h -- the oracle of the heap sampler: which allocations of a
 * processor are recorded, given its random numbers.
 */
#ifndef MODEL_HEAP_HEAP_SAMPLER_H
#define MODEL_HEAP_HEAP_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/heap/contention.h"

struct model_heap_sampler {
    enum model_era era;
    uint64_t state; /* of the generator, which contention events may share */
    bool begun;
    uint64_t rate; /* at which `gap` was drawn */
    uint64_t gap;  /* a smaller allocation is not recorded and is subtracted */
};

/* returns: whether this allocation is recorded */
bool model_heap_sampler_next(struct model_heap_sampler *sampler,
                             uint64_t size_bytes, int64_t rate_bytes);

#endif
