/*
 * stale_rollback.c -- K8, jemalloc 4.0.2: when a resize fails, it finds its
 * thread's record through the site. By then the site may be freed.
 */
#include <pthread.h>
#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct thread_record {
    unsigned prepared;
};
struct site {
    struct thread_record *record;
    long objects;
    long bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_record record;
static struct site *sites[SITES];
static unsigned site_of[ADDRESSES + 1];

static struct site *
find(unsigned key)
{
    if (sites[key] == NULL) {
        sites[key] = calloc(1, sizeof *sites[key]);
        if (sites[key] == NULL)
            abort();
        sites[key]->record = &record;
    }
    return sites[key];
}

static void
enter(unsigned key, unsigned address, unsigned bytes)
{
    site_of[address] = key;
    find(key)->objects++;
    find(key)->bytes += bytes;
}

static void
leave(unsigned address)
{
    struct site *const site = sites[site_of[address]];

    site->objects--;
    site->bytes -= heap_bytes(address);
    if (site->objects > 0)
        return;
    sites[site_of[address]] = NULL;
    free(site);
}

static unsigned
alloc(unsigned key, unsigned bytes)
{
    const unsigned address = heap_take(key, bytes);

    pthread_mutex_lock(&lock);
    enter(key, address, bytes);
    pthread_mutex_unlock(&lock);
    return address;
}

static unsigned
resize(unsigned key, unsigned address, unsigned bytes)
{
    const unsigned old_key = site_of[address];
    const unsigned old_bytes = heap_bytes(address);
    struct thread_record *mine;
    struct site *site;
    unsigned result;

    pthread_mutex_lock(&lock);
    leave(address);
    site = find(key);
    mine = site->record;
    mine->prepared++;
    pthread_mutex_unlock(&lock);
    result = heap_resize(key, address, bytes);
    pthread_mutex_lock(&lock);
#ifndef FIXED
    mine = site->record;
#endif
    mine->prepared--;
    if (result != 0)
        enter(key, result, bytes);
    else
        enter(old_key, address, old_bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&lock);
    leave(address);
    pthread_mutex_unlock(&lock);
    heap_give(address);
}

static void
snapshot(struct shown *shown)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < SITES; i++)
        if (sites[i] != NULL && sites[i]->objects > 0)
            shown[i] = (struct shown){sites[i]->objects, sites[i]->bytes};
    pthread_mutex_unlock(&lock);
}

const struct profiler profiler = {
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = snapshot,
};
