/*
 * job_twice.c -- K41, dd-trace-rb#6242: each request for postponed work is
 * assumed to run exactly once. If it runs a second time, it finds no data and
 * stops the profiler.
 */
#include "subjects/catalogue/small_world.h"

static bool has_data;
static bool has_stopped;

static void
job(void)
{
#ifndef FIXED
    if (!has_data)
        has_stopped = true;
#endif
    has_data = false;
}

static void
collected(void)
{
    has_data = true;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (has_stopped)
        return address;
    has_data = true;
    report_alloc(address, site, bytes);
    return address;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
    .collected = collected,
    .job = job,
};
