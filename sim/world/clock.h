/*
 * clock.h -- virtual cycle clocks, one per processor, computed in integers.
 *
 * The event queue counts world time: `now`. A processor's clock reads
 *
 *      offset_ticks + now + now * drift_ppm / 1e6
 *
 * so it may start anywhere, run fast or slow, jump, stand still (drift of
 * -1,000,000) or run backwards (below that).
 */
#ifndef SIM_WORLD_CLOCK_H
#define SIM_WORLD_CLOCK_H

#include <stdint.h>

struct sim_clock {
    int64_t offset_ticks;
    int64_t drift_ppm;
};

/* returns: what the clock reads at world time `now_ticks` (< 2^43) */
static inline int64_t
sim_clock_read(const struct sim_clock *clock, uint64_t now_ticks)
{
    const int64_t now = (int64_t)now_ticks;

    if (clock->drift_ppm == 0)
        return clock->offset_ticks + now;
    return clock->offset_ticks + now + now / 1000000 * clock->drift_ppm +
           now % 1000000 * clock->drift_ppm / 1000000;
}

/* returns: ticks between two readings, modulo 2^64 as machines count */
static inline int64_t
sim_clock_since(int64_t now_ticks, int64_t then_ticks)
{
    return (int64_t)((uint64_t)now_ticks - (uint64_t)then_ticks);
}

#endif
