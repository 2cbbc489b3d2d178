/* vector_clock.h -- how much of each thread is known. */
#ifndef EXPLORE_ENGINE_VECTOR_CLOCK_H
#define EXPLORE_ENGINE_VECTOR_CLOCK_H

#include "explore/engine/explore.h"

struct clock {
    uint32_t at[SIM_THREADS_MAX];
};

/* Stamps are below 2^31: vector units compare signed numbers faster. */
static inline void
sim_clock_join(struct clock *into, const struct clock *from)
{
    for (uint32_t t = 0; t < SIM_THREADS_MAX; t++) {
        const int32_t a = (int32_t)from->at[t];
        const int32_t b = (int32_t)into->at[t];

        into->at[t] = (uint32_t)(a > b ? a : b); /* a store, not a branch */
    }
}

/* Is any of the stamps in `of` known by `now`? */
static inline bool
sim_clock_knows_any(const struct clock *now, const struct clock *of)
{
    uint32_t unknown = UINT32_MAX; /* top bit: every stamp in `of` is later */

    for (uint32_t t = 0; t < SIM_THREADS_MAX; t++)
        unknown &= now->at[t] - of->at[t];
    return unknown >> 31 == 0;
}

#endif
