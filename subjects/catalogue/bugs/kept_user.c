/*
 * kept_user.c -- K5, jemalloc 4.0.1: when realloc runs out of memory, the site
 * that it has prepared keeps a user that never comes.
 */
#include "subjects/catalogue/bugs/counted_sites.h"

static unsigned
resize(unsigned key, unsigned address, unsigned bytes)
{
    struct site *const site = prepare(key);
    const unsigned old = site_of[address];
    const unsigned old_bytes = heap_bytes(address);
    const unsigned result = heap_resize(key, address, bytes);

    if (result == 0) {
#ifdef FIXED
        leave(key);
#endif
        return 0;
    }
    enter(site, key, result, bytes);
    remove_object(old, old_bytes);
    return result;
}

/* Free only unused sites: those still in use have another owner. */
static void
end(void)
{
    for (unsigned i = 0; i < SITES; i++)
        sites[i] = NULL;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .end = end,
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = snapshot,
};
