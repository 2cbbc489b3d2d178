/*
 * begun_by_others.c -- K33, pprof-nodejs#384: a profile is available because
 * other code switched the sampler on; the wrapper's own state is null.
 */
#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct state {
    unsigned profiles;
};

static struct state *state; /* of the wrapper; the sampler is everybody's */

static void
begin(void)
{
    state = calloc(1, sizeof *state);
    if (state == NULL)
        abort();
}

static void
end(void)
{
    free(state);
    state = NULL;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    report_alloc(address, site, bytes);
    return address;
}

static void
snapshot(struct shown *shown)
{
#ifdef FIXED
    if (state == NULL)
        return;
#endif
    state->profiles++;
    reported(shown);
}

const struct profiler profiler = {
    .begin = begin,
    .end = end,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = snapshot,
};
