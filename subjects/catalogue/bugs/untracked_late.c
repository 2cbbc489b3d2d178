/*
 * untracked_late.c -- K45, aws-c-common#1053: realloc, untrack the old, track
 * the new: the old address is in use again between the first two steps.
 */
#include <pthread.h>

#include "world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    pthread_mutex_lock(&lock);
    tell_alloc(address, site, bytes);
    pthread_mutex_unlock(&lock);
    return address;
}

static unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
    unsigned result;

#ifdef FIXED
    pthread_mutex_lock(&lock);
    result = heap_resize(site, address, bytes);
#else
    result = heap_resize(site, address, bytes);
    pthread_mutex_lock(&lock);
#endif
    if (result != 0) {
        tell_free(address);
        tell_alloc(result, site, bytes);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&lock);
    tell_free(address);
    pthread_mutex_unlock(&lock);
    heap_give(address);
}

const struct profiler profiler = {
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = told,
};
