/*
 * counted_sites.h -- the profiler of jemalloc 4: a site is freed when its last
 * user goes.
 */
#ifndef SUBJECTS_CATALOGUE_BUGS_COUNTED_SITES_H
#define SUBJECTS_CATALOGUE_BUGS_COUNTED_SITES_H

#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct site {
    unsigned users; /* live objects, and allocations that are prepared */
    long objects;
    long bytes;
};

static struct site *sites[SITES];
static unsigned site_of[ADDRESSES + 1];

static struct site *
prepare(unsigned key)
{
    if (sites[key] == NULL &&
        (sites[key] = calloc(1, sizeof *sites[key])) == NULL)
        abort();
    sites[key]->users++;
    return sites[key];
}

static void
leave(unsigned key)
{
    if (--sites[key]->users > 0)
        return;
    free(sites[key]);
    sites[key] = NULL;
}

static void
enter(struct site *site, unsigned key, unsigned address, unsigned bytes)
{
    site_of[address] = key;
    site->objects++;
    site->bytes += bytes;
}

static void
remove_object(unsigned key, unsigned bytes)
{
    sites[key]->objects--;
    sites[key]->bytes -= bytes;
    leave(key);
}

static unsigned
alloc(unsigned key, unsigned bytes)
{
    const unsigned address = heap_take(key, bytes);

    enter(prepare(key), key, address, bytes);
    return address;
}

static void
drop(unsigned address)
{
    remove_object(site_of[address], heap_bytes(address));
    heap_give(address);
}

static void
snapshot(struct shown *shown)
{
    for (unsigned i = 0; i < SITES; i++)
        if (sites[i] != NULL)
            shown[i] = (struct shown){sites[i]->objects, sites[i]->bytes};
}

#endif
