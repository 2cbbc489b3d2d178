/*
 * mapping_at_start.c -- K18, gperftools#16: the profiler starts with its lock
 * held and its hooks in place; a mapping that the start makes runs the hook.
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_inside; /* in the profiler: its own blocks pass */

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (is_inside)
        return address;
    pthread_mutex_lock(&lock);
    if (site != SITE_INSIDE)
        report_alloc(address, site, bytes);
    pthread_mutex_unlock(&lock);
    return address;
}

/* The profiler's tables are in memory that it maps now. */
static void
begin(void)
{
    unsigned tables;

#ifdef FIXED
    is_inside = true;
#endif
    pthread_mutex_lock(&lock);
    tables = alloc(SITE_INSIDE, 4096);
    pthread_mutex_unlock(&lock);
    is_inside = false;
    heap_give(tables);
}

const struct profiler profiler = {
    .begin = begin,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
