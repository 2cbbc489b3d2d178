/*
 * kept_libraries.c -- K31, async-profiler#1256: the list of libraries is read
 * early, and their tables are patched later. By then a library may be unloaded.
 */
#include "subjects/catalogue/small_world.h"

static struct library *listed;
static bool is_off;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (site != SITE_INSIDE && !is_off)
        report_alloc(address, site, bytes);
    return address;
}

static void
turn(bool on)
{
    is_off = !on;
    loader_lock();
#ifdef FIXED
    listed = library_first();
#else
    if (!on)
        listed = library_first();
#endif
    for (struct library *i = listed; on && i != NULL; i = i->next)
        i->is_patched = true;
    loader_unlock();
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
    .turn = turn,
};
