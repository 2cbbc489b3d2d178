/*
 * first_event.c -- K25, JDK-8307488: a thread's first event stands for all
 * bytes that the thread ever allocated, including those from before the start.
 */
#include "subjects/catalogue/small_world.h"

static __thread long allocated; /* bytes of this thread */
static __thread long at_event;  /* as of its last event */
static bool is_off;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    allocated += bytes;
#ifdef FIXED
    if (is_off)
        at_event = allocated;
#endif
    if (is_off)
        return address;
    report_alloc(address, site, (unsigned)(allocated - at_event));
    at_event = allocated;
    return address;
}

static void
turn(bool on)
{
    is_off = !on;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
    .turn = turn,
};
