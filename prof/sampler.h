/* sampler.h -- a processor's way to the next sampled allocation. */
#ifndef PROF_SAMPLER_H
#define PROF_SAMPLER_H

#include <stdint.h>

struct sampler {
    /* An allocation smaller than this is not sampled, and makes it less. */
    uint64_t until_bytes;
    int64_t rate_bytes; /* that until_bytes was drawn for; 0: none drawn */
};

#endif
