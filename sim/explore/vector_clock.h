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
        if (from->at[t] > into->at[t])
            into->at[t] = from->at[t];
    }
}

#endif
