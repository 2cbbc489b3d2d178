/*
 * replaced_iterator.c -- K13, ClickHouse#66346: the unwinder calls a replaced
 * dl_iterate_phdr, which looks up the real one, which allocates; all that under
 * the lock of the initialisation.
 */
#include <pthread.h>

#include "world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_own[ADDRESSES + 1];

static bool is_ready;
static void (*real_iterate)(void);

static unsigned alloc(unsigned site, unsigned bytes);

/* dlsym() allocates its error's text. */
static void
look_up(void)
{
    heap_give(alloc(SITE_INSIDE, 8));
    real_iterate = unwind;
}

static void
iterate(void)
{
    if (real_iterate == NULL)
        look_up();
    real_iterate();
}

static void
initialise(void)
{
    pthread_mutex_lock(&lock);
    if (!is_ready)
        iterate();
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
