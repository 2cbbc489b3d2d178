/*
 * two_layers.c -- K46, scalene#328: two layers register an allocation, but only
 * one registers its free.
 */
#include "subjects/catalogue/bugs/summed_sites.h"

/* malloc() */
static unsigned
lower(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    site_of[address] = site;
#ifndef FIXED
    add(site, 1, bytes);
#endif
    return address;
}

/* The allocator of objects, which calls it */
static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = lower(site, bytes);

    add(site, 1, bytes);
    return address;
}

static void
drop(unsigned address)
{
    add(site_of[address], -1, heap_bytes(address));
    heap_give(address);
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
};
