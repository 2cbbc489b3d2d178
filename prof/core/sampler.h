/* sampler.h -- a processor's way to the next sampled allocation. */
#ifndef PROF_SAMPLER_H
#define PROF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLER_RATES = 64 }; /* different ones that buckets keep apart */

struct sampler {
    /* An allocation smaller than this is not sampled, and makes it less. */
    uint64_t until_bytes;
    int64_t rate_bytes; /* set when until_bytes was drawn; 0: none drawn */
    uint32_t rate;      /* index in heap_rates, plus 1; PROF_SAMPLER_EXACT */
    uint32_t sampled;   /* `rate` of the sample that is to be recorded next */
    bool is_kept; /* until_bytes is kept by the caller, who may see a new rate
                     late */
};

struct prof;

/* The rate at which the allocation that is being recorded was sampled; 0:
 * all are recorded. */
static inline uint32_t
prof_sampler_take(struct sampler *sampler)
{
    const uint32_t rate = sampler->sampled;

    sampler->sampled = 0;
    return rate;
}

#endif
