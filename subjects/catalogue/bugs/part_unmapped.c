/*
 * part_unmapped.c -- K16, gperftools#953: munmap of part of a mapping subtracts
 * a whole object, but only part of its bytes.
 */
#include "subjects/catalogue/bugs/summed_sites.h"

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    site_of[address] = site;
    add(site, 1, bytes);
    return address;
}

static void
unmap(unsigned address, unsigned bytes, bool whole)
{
#ifdef FIXED
    if (whole)
        sites[site_of[address]].objects--;
#else
    (void)whole;
    sites[site_of[address]].objects--;
#endif
    sites[site_of[address]].bytes -= bytes;
}

static void
trim(unsigned address, unsigned bytes)
{
    unmap(address, bytes, false);
}

static void
drop(unsigned address)
{
    unmap(address, heap_bytes(address), true);
    heap_give(address);
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .trim = trim,
    .snapshot = snapshot,
};
