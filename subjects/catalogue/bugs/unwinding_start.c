/*
 * unwinding_start.c -- K11, jemalloc#2282: with musl, the first walk of a stack
 * allocates; it is made under the lock that the first malloc waits for.
 */
#include <pthread.h>

#include "world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_own[ADDRESSES + 1];

static bool is_ready;

static void
initialise(void)
{
    pthread_mutex_lock(&lock);
    if (!is_ready)
        unwind();
    is_ready = true;
    pthread_mutex_unlock(&lock);
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    unsigned address;

#ifndef FIXED
    initialise();
#endif
    address = heap_take(site, bytes);
    is_own[address] = site == SITE_INSIDE;
    if (!is_own[address])
        tell_alloc(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    if (!is_own[address])
        tell_free(address);
    heap_give(address);
}

const struct profiler profiler = {
#ifdef FIXED
    .begin = initialise,
#endif
    .alloc = alloc,
    .free = drop,
    .snapshot = told,
};
