/*
 * locked_tell.h -- a profiler that reports events under a lock. The file that
 * includes it provides `resize`.
 */
#ifndef SUBJECTS_CATALOGUE_BUGS_LOCKED_TELL_H
#define SUBJECTS_CATALOGUE_BUGS_LOCKED_TELL_H

#include <pthread.h>

#include "subjects/catalogue/small_world.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    pthread_mutex_lock(&lock);
    report_alloc(address, site, bytes);
    pthread_mutex_unlock(&lock);
    return address;
}

static void
drop(unsigned address)
{
    pthread_mutex_lock(&lock);
    report_free(address);
    pthread_mutex_unlock(&lock);
    heap_give(address);
}

static unsigned resize(unsigned site, unsigned address, unsigned bytes);

const struct profiler profiler = {
    .alloc = alloc,
    .resize = resize,
    .free = drop,
    .snapshot = reported,
};

#endif
