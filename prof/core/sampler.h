/* sampler.h -- how far a processor is from its next sampled allocation. */
#ifndef PROF_CORE_SAMPLER_H
#define PROF_CORE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLER_RATES = 64 }; /* different rates that buckets can have */

struct sampler {
    /* Bytes until the next sample. A smaller allocation is not sampled, and its
       size is subtracted. */
    uint64_t until_bytes;
    int64_t rate_bytes; /* the rate when until_bytes was drawn; 0: not drawn */
    uint32_t rate;      /* index in heap_rates, plus 1; PROF_SAMPLER_EXACT */
    uint32_t sampled;   /* `rate` of the sample that is to be recorded next */
    bool is_kept;       /* the caller keeps until_bytes, and may see a new rate
                           late */
};

struct prof;

/* Index plus 1 of the rate at which the current allocation was sampled; 0: all
 * are recorded. */
static inline uint32_t
prof_sampler_take(struct sampler *sampler)
{
    const uint32_t rate = sampler->sampled;

    sampler->sampled = 0;
    return rate;
}

#endif
