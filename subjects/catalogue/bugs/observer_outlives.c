/*
 * observer_outlives.c -- K34, pprof-nodejs#212: the machine destroys the spaces
 * of its heap before the profiler that observes them.
 */
#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct space {
    bool is_observed;
};

static struct space *space;

static void
begin(void)
{
    space = calloc(1, sizeof *space);
    if (space == NULL)
        abort();
    space->is_observed = true;
}

static void
stop_observing(void)
{
    space->is_observed = false;
}

static void
end(void)
{
    if (space == NULL)
        return;
#ifdef FIXED
    stop_observing();
    free(space);
#else
    free(space);
    stop_observing();
#endif
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    report_alloc(address, site, bytes);
    return address;
}

const struct profiler profiler = {
    .begin = begin,
    .end = end,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
