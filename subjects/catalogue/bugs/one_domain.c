/*
 * one_domain.c -- K38, dd-trace-py#16300: only the domain of objects is hooked;
 * requests of more than 512 bytes come from another.
 */
#include "subjects/catalogue/small_world.h"

enum { OBJECT_BYTES_MAX = 512 };

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

#ifndef FIXED
    if (bytes > OBJECT_BYTES_MAX)
        return address;
#endif
    report_alloc(address, site, bytes);
    return address;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
