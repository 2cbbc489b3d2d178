/* seeds.h -- run random worlds, seeds 1, 2, ...; a failure names its seed. */
#ifndef PROPS_SEEDS_H
#define PROPS_SEEDS_H

#include "unit_test.h"

static uint64_t seeds_at, seeds_last;

static inline void
seeds_run(uint64_t last, void (*world)(uint64_t seed))
{
    seeds_last = last;
    for (seeds_at = 1; seeds_at <= last; seeds_at++)
        world(seeds_at);
}

/* The teardown of a test that calls seeds_run(). */
static inline int
seeds_tell(void **state)
{
    (void)state;
    if (seeds_at <= seeds_last)
        print_error("in the world of seed %u\n", (unsigned)seeds_at);
    return 0;
}

#endif
