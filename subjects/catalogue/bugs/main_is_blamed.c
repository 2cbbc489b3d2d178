/*
 * main_is_blamed.c -- K47, scalene#1031: allocations of a thread without
 * interpreter state are charged to the line that the main thread is executing.
 */
#include "subjects/catalogue/small_world.h"

static __thread bool is_native;
static unsigned line_of_main;

static void
thread_begin(void)
{
    is_native = true;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (!is_native)
        line_of_main = site;
#ifdef FIXED
    report_alloc(address, site, bytes);
#else
    report_alloc(address, is_native ? line_of_main : site, bytes);
#endif
    return address;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .thread_begin = thread_begin,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
