/*
 * unsummed_site.c -- K9, jemalloc 4.0.3: the last pass of a dump also visits
 * sites that were made after its first pass, whose sums were never filled in.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/catalogue/small_world.h"

struct site {
    struct site *next;
    unsigned key;
    struct shown now;
    struct shown summed; /* for the dump */
    bool is_summed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct site *sites;
static struct site *site_of[ADDRESSES + 1];

static struct site *
find(unsigned key)
{
    struct site *site = sites;

    while (site != NULL && site->key != key)
        site = site->next;
    if (site != NULL)
        return site;
    site = malloc(sizeof *site);
    if (site == NULL)
        abort();
    memset(site, 0xa5, sizeof *site); /* what freshly allocated memory holds */
    site->key = key;
    site->now = (struct shown){0};
    site->is_summed = false;
    site->next = sites;
    sites = site;
    return site;
}

static unsigned
alloc(unsigned key, unsigned bytes)
{
    const unsigned address = heap_take(key, bytes);

    pthread_mutex_lock(&lock);
    site_of[address] = find(key);
    site_of[address]->now.objects++;
    site_of[address]->now.bytes += bytes;
    pthread_mutex_unlock(&lock);
    return address;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&lock);
    site_of[address]->now.objects--;
    site_of[address]->now.bytes -= heap_bytes(address);
    pthread_mutex_unlock(&lock);
    heap_give(address);
}

static void
snapshot(struct shown *shown)
{
    pthread_mutex_lock(&lock);
    for (struct site *site = sites; site != NULL; site = site->next) {
        site->summed = site->now;
        site->is_summed = true;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    for (struct site *site = sites; site != NULL; site = site->next) {
#ifdef FIXED
        if (!site->is_summed)
            continue;
#endif
        shown[site->key] = site->summed;
        site->is_summed = false;
    }
    pthread_mutex_unlock(&lock);
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
};
