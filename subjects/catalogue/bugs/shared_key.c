/*
 * shared_key.c -- K4, jemalloc 4.0.1: a site from before a reset and one from
 * after it, with the same stack, share one key. It is freed with the older
 * site.
 */
#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct site {
    struct site *next;
    unsigned own_key;
    const unsigned *key;
    long objects;
    long bytes;
    bool is_reset;
};

static struct site *sites;
static struct site *site_of[ADDRESSES + 1];

static struct site *
find(unsigned key)
{
    struct site *made = calloc(1, sizeof *made);

    if (made == NULL)
        abort();
    made->own_key = key;
    made->key = &made->own_key;
    for (struct site *site = sites; site != NULL; site = site->next) {
        if (*site->key != key)
            continue;
        if (!site->is_reset) {
            free(made);
            return site;
        }
#ifndef FIXED
        made->key = site->key;
#endif
    }
    made->next = sites;
    sites = made;
    return made;
}

static void
remove_site(struct site *site)
{
    struct site **link = &sites;

    while (*link != site)
        link = &(*link)->next;
    *link = site->next;
    free(site);
}

static unsigned
alloc(unsigned key, unsigned bytes)
{
    const unsigned address = heap_take(key, bytes);
    struct site *const site = find(key);

    site_of[address] = site;
    site->objects++;
    site->bytes += bytes;
    return address;
}

static void
drop(unsigned address)
{
    struct site *const site = site_of[address];

    site->objects--;
    site->bytes -= heap_bytes(address);
    if (site->objects == 0)
        remove_site(site);
    heap_give(address);
}

static void
reset(void)
{
    for (struct site *site = sites; site != NULL; site = site->next)
        site->is_reset = true;
}

static void
snapshot(struct shown *shown)
{
    for (struct site *site = sites; site != NULL; site = site->next)
        if (!site->is_reset) {
            shown[*site->key].objects = site->objects;
            shown[*site->key].bytes = site->bytes;
        }
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
    .reset = reset,
};
