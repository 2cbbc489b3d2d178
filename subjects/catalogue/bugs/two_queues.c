/*
 * two_queues.c -- K44, dial9#428: events wait in two queues; all allocations
 * are drained first, and then all frees.
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

enum { QUEUE = 16 };

struct event {
    bool is_free;
    unsigned address;
    unsigned site;
    unsigned bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event queue[QUEUE];
static unsigned length;

static void
push(struct event event)
{
    pthread_mutex_lock(&lock);
    queue[length++] = event;
    pthread_mutex_unlock(&lock);
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    push((struct event){false, address, site, bytes});
    return address;
}

static void
drop(unsigned address)
{
    push((struct event){.is_free = true, .address = address});
    heap_give(address);
}

static void
drain(bool allocs, bool frees)
{
    for (unsigned i = 0; i < length; i++) {
        if (queue[i].is_free && frees)
            report_free(queue[i].address);
        else if (!queue[i].is_free && allocs)
            report_alloc(queue[i].address, queue[i].site, queue[i].bytes);
    }
}

static void
snapshot(struct shown *shown)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    drain(true, true);
#else
    drain(true, false);
    drain(false, true);
#endif
    length = 0;
    reported(shown);
    pthread_mutex_unlock(&lock);
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
};
