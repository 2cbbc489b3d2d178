/*
 * first_walk.h -- a profiler that walks the stack once before it is ready,
 * under the lock that the first malloc waits for. The file that includes it
 * defines how it walks.
 */
#ifndef SUBJECTS_CATALOGUE_BUGS_FIRST_WALK_H
#define SUBJECTS_CATALOGUE_BUGS_FIRST_WALK_H

#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ready;

static void walk(void);

static void
initialise(void)
{
    pthread_mutex_lock(&lock);
    if (!is_ready)
        walk();
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
    if (site != SITE_INSIDE)
        report_alloc(address, site, bytes);
    return address;
}

const struct profiler profiler = {
#ifdef FIXED
    .begin = initialise,
#endif
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};

#endif
