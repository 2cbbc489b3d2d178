/*
 * loader_and_heap.c -- K32, async-profiler#1151: one thread walks the loaded
 * objects under the loader's lock and allocates; another grows the heap under
 * its lock and unwinds, which walks the loaded objects.
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t page_heap = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_inside;
static bool is_own[ADDRESSES + 1];

static void
note_stack(void)
{
    is_inside = true;
    unwind();
    is_inside = false;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    unsigned address;

    if (is_inside)
        return heap_take(site, bytes);
#ifdef FIXED
    note_stack();
#endif
    pthread_mutex_lock(&page_heap);
    address = heap_take(site, bytes);
#ifndef FIXED
    note_stack();
#endif
    pthread_mutex_unlock(&page_heap);
    is_own[address] = site == SITE_INSIDE;
    if (!is_own[address])
        report_alloc(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    if (!is_inside && !is_own[address])
        report_free(address);
    heap_give(address);
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = drop,
    .snapshot = reported,
};
