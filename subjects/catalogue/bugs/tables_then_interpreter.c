/*
 * tables_then_interpreter.c -- K49, cpython#130093: one thread holds the
 * tables' lock and waits for the interpreter's; another holds the interpreter's
 * and waits for the tables'.
 */
#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;

/* From C code that does not hold the interpreter. */
static void
track_raw(unsigned address, unsigned site, unsigned bytes)
{
#ifdef FIXED
    interpreter_take();
    pthread_mutex_lock(&tables);
#else
    pthread_mutex_lock(&tables);
    interpreter_take();
#endif
    report_alloc(address, site, bytes);
    interpreter_give();
    pthread_mutex_unlock(&tables);
}

static void
track_object(unsigned address, unsigned site, unsigned bytes)
{
    interpreter_take();
    pthread_mutex_lock(&tables);
    report_alloc(address, site, bytes);
    pthread_mutex_unlock(&tables);
    interpreter_give();
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (bytes > 512)
        track_raw(address, site, bytes);
    else
        track_object(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&tables);
    report_free(address);
    pthread_mutex_unlock(&tables);
    heap_give(address);
}

const struct profiler profiler = {
    .alloc = alloc,
    .free = drop,
    .snapshot = reported,
};
