/*
 * mapped_and_carved.c -- K19, gperftools#182: memory that the allocator maps
 * for itself is counted as a mapping, and again as the blocks carved from it.
 */
#include "subjects/catalogue/bugs/summed_sites.h"

enum { LARGE_BYTES = 1024 };

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

#ifndef FIXED
    if (bytes >= LARGE_BYTES)
        add(site, 1, bytes); /* the hook of mmap() */
#endif
    add(site, 1, bytes);
    site_of[address] = site;
    return address;
}

static void
drop(unsigned address)
{
    add(site_of[address], -1, heap_bytes(address));
    heap_give(address); /* which keeps the mapping */
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
};
