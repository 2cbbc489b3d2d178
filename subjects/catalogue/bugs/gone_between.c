/*
 * gone_between.c -- K6, jemalloc 4.0.1: realloc records the free of the old
 * block before the allocation of the new one; the site of both goes in between.
 */
#include <stdlib.h>

#include "world.h"

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

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = snapshot,
};
