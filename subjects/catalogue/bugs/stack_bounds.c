/*
 * stack_bounds.c -- K20, perfetto#473: the hook asks libc where the thread's
 * stack is. That call allocates, so the hook runs inside itself and waits for a
 * lock that it holds.
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
#ifdef FIXED
    is_inside = true;
#endif
    pthread_mutex_lock(&lock);
    thread_bounds();
    if (site != SITE_INSIDE)
        report_alloc(address, site, bytes);
    pthread_mutex_unlock(&lock);
    is_inside = false;
    return address;
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
