/* vector_clock.h -- how much of each thread is known. */
#ifndef SIM_VECTOR_CLOCK_H
#define SIM_VECTOR_CLOCK_H

#include "explore.h"

struct clock {
    uint32_t at[SIM_THREADS_MAX];
};

static inline void
sim_clock_join(struct clock *into, const struct clock *from)
{
    for (uint32_t t = 0; t < SIM_THREADS_MAX; t++) {
        const uint32_t a = from->at[t];
        const uint32_t b = into->at[t];

        into->at[t] = a > b ? a : b; /* always a store, so it is no branch */
    }
}

#endif
