/*
 * lost_wait.c -- K2, jemalloc#1605: an allocation that crosses the sample point
 * while profiling is off sets the wait to the largest number instead of
 * drawing.
 */
#include <limits.h>

#include "subjects/catalogue/small_world.h"

static long wait; /* bytes to the next sample; every allocation crosses */
static bool is_off;

static void
turn(bool on)
{
    is_off = !on;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    wait -= bytes;
    if (wait > 0)
        return address;
    wait = 1;
#ifndef FIXED
    if (is_off)
        wait = LONG_MAX;
#endif
    if (is_off)
        return address;
    report_alloc(address, site, bytes);
    return address;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
    .turn = turn,
};
