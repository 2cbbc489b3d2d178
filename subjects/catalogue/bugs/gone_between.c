/*
 * gone_between.c -- K6, jemalloc 4.0.1: realloc records the free of the old
 * block before the allocation of the new one; in between, the site of both may
 * disappear.
 */
#include "subjects/catalogue/bugs/counted_sites.h"

static unsigned
resize(unsigned key, unsigned address, unsigned bytes)
{
    struct site *site = prepare(key);
    const unsigned old = site_of[address];
    const unsigned old_bytes = heap_bytes(address);
    const unsigned result = heap_resize(key, address, bytes);

    if (result == 0) {
        leave(key);
        return 0;
    }
#ifdef FIXED
    enter(site, key, result, bytes);
    remove_object(old, old_bytes);
#else
    site->users--; /* the user is counted when the block is entered */
    remove_object(old, old_bytes);
    site->users++;
    enter(site, key, result, bytes);
#endif
    return result;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = snapshot,
};
