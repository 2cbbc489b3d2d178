/*
 * tracker_and_loader.c -- K51, memray#669: threads wait for each other while
 * modules are imported under tracking. (The report does not state the cause;
 * here the tracker lists the modules under its own lock.)
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t tracker = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_inside;

static void
list_modules(void)
{
    loader_lock();
    for (const struct library *i = library_first(); i != NULL; i = i->next)
        (void)i->is_patched;
    loader_unlock();
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (is_inside)
        return address;
    is_inside = true;
#ifdef FIXED
    list_modules();
    pthread_mutex_lock(&tracker);
#else
    pthread_mutex_lock(&tracker);
    list_modules();
#endif
    if (site != SITE_INSIDE)
        report_alloc(address, site, bytes);
    pthread_mutex_unlock(&tracker);
    is_inside = false;
    return address;
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
