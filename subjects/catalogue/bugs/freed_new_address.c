/*
 * freed_new_address.c -- K3, jemalloc#1683: realloc hands the new address to
 * the routine that logs the free of the old block.
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

    pthread_mutex_lock(&lock);
    result = heap_resize(site, address, bytes);
    if (result != 0) {
#ifdef FIXED
        tell_free(address);
#else
        tell_free(result);
#endif
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
