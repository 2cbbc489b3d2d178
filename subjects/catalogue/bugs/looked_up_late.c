/*
 * looked_up_late.c -- K43, dial9#911: realloc calls the real one first and
 * looks up the old address afterwards, when another thread may already own it.
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record {
    bool is_open;
    unsigned site;
    unsigned bytes;
} records[ADDRESSES + 1];

static void
put(unsigned address, struct record record)
{
    pthread_mutex_lock(&lock);
    records[address] = record;
    pthread_mutex_unlock(&lock);
}

static struct record
take_out(unsigned address)
{
    struct record record;

    pthread_mutex_lock(&lock);
    record = records[address];
    records[address].is_open = false;
    pthread_mutex_unlock(&lock);
    return record;
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    put(address, (struct record){true, site, bytes});
    return address;
}

static unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
    unsigned result;
    struct record old;

#ifdef FIXED
    old = take_out(address);
    result = heap_resize(site, address, bytes);
#else
    result = heap_resize(site, address, bytes);
    if (result != 0)
        old = take_out(address);
#endif
    if (result != 0)
        put(result, (struct record){true, site, bytes});
#ifdef FIXED
    else
        put(address, old);
#else
    (void)old;
#endif
    return result;
}

static void
drop(unsigned address)
{
    (void)take_out(address);
    heap_give(address);
}

static void
snapshot(struct shown *shown)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 1; i <= ADDRESSES; i++)
        if (records[i].is_open) {
            shown[records[i].site].objects++;
            shown[records[i].site].bytes += records[i].bytes;
        }
    pthread_mutex_unlock(&lock);
}

const struct profiler profiler = {
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = snapshot,
};
