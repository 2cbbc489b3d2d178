/*
 * tables_then_world.c -- K50, cpython#139116: stop takes the tables' lock and
 * then stops the world. A thread inside a call waits for that lock, and so
 * never reaches a point where it could be stopped.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;
static bool is_off;
static bool is_seen[ADDRESSES + 1];

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    pthread_mutex_lock(&tables);
    is_seen[address] = !is_off;
    if (!is_off)
        report_alloc(address, site, bytes);
    pthread_mutex_unlock(&tables);
    return address;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&tables);
    if (is_seen[address])
        report_free(address);
    pthread_mutex_unlock(&tables);
    heap_give(address);
}

static void
turn(bool on)
{
#ifdef FIXED
    world_stop();
    pthread_mutex_lock(&tables);
#else
    pthread_mutex_lock(&tables);
    world_stop();
#endif
    is_off = !on;
    world_start();
    pthread_mutex_unlock(&tables);
}

const struct profiler profiler = {
    .manner = ATTACHED,
    .alloc = alloc,
    .free = drop,
    .snapshot = reported,
    .turn = turn,
};
