/*
 * untracked_late.c -- K45, aws-c-common#1053: realloc, untrack the old, track
 * the new: the old address is in use again between the first two steps.
 */
#include "locked_tell.h"

static unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
    unsigned result;

#ifdef FIXED
    pthread_mutex_lock(&lock);
    result = heap_resize(site, address, bytes);
#else
    result = heap_resize(site, address, bytes);
    pthread_mutex_lock(&lock);
#endif
    if (result != 0) {
        tell_free(address);
        tell_alloc(result, site, bytes);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
