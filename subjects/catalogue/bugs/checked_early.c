/*
 * checked_early.c -- K48, cpython#128679: the tracking call checks whether
 * tracing is on, and only then takes the lock. In between, stop may free the
 * tables.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct tables {
    bool is_open[ADDRESSES + 1];
    unsigned site[ADDRESSES + 1];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_tracing;
static struct tables *tables;

static void
turn(bool on)
{
    pthread_mutex_lock(&lock);
    atomic_store(&is_tracing, on);
    free(tables);
    tables = on ? calloc(1, sizeof *tables) : NULL;
    pthread_mutex_unlock(&lock);
}

static void
begin(void)
{
    turn(true);
}

static void
end(void)
{
    turn(false);
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (!atomic_load(&is_tracing))
        return address;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (atomic_load(&is_tracing))
#endif
    {
        tables->is_open[address] = true;
        tables->site[address] = site;
    }
    pthread_mutex_unlock(&lock);
    return address;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&lock);
    if (tables != NULL)
        tables->is_open[address] = false;
    pthread_mutex_unlock(&lock);
    heap_give(address);
}

static void
snapshot(struct shown *shown)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 1; tables != NULL && i <= ADDRESSES; i++)
        if (tables->is_open[i]) {
            shown[tables->site[i]].objects++;
            shown[tables->site[i]].bytes += heap_bytes(i);
        }
    pthread_mutex_unlock(&lock);
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
    .turn = turn,
    .turn_forgets = true,
    .begin = begin,
    .end = end,
};
