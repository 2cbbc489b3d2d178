/*
 * one_domain.c -- K38, dd-trace-py#16300: only the domain of objects is hooked;
 * requests of more than 512 bytes come from another.
 */
#include "world.h"

enum { OBJECT_BYTES_MAX = 512 };

static bool is_seen[ADDRESSES + 1];

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

#ifdef FIXED
    is_seen[address] = true;
#else
    is_seen[address] = bytes <= OBJECT_BYTES_MAX;
#endif
    if (is_seen[address])
        tell_alloc(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    if (is_seen[address])
        tell_free(address);
    heap_give(address);
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .snapshot = told,
};
