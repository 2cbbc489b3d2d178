/*
 * two_steps.c -- K42, tracy#1378: a free and its report are two steps. In
 * between, another thread may get the address and report that.
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    unsigned address;

    pthread_mutex_lock(&lock);
    address = heap_take(site, bytes);
    report_alloc(address, site, bytes);
    pthread_mutex_unlock(&lock);
    return address;
}

static void
drop(unsigned address)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    heap_give(address);
    report_free(address);
    pthread_mutex_unlock(&lock);
#else
    heap_give(address);
    pthread_mutex_lock(&lock);
    report_free(address);
    pthread_mutex_unlock(&lock);
#endif
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = drop,
    .snapshot = reported,
};
