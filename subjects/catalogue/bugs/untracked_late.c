/*
 * untracked_late.c -- K45, aws-c-common#1053: the hook reallocates, untracks
 * the old address, and tracks the new one. Between the first two steps, the old
 * address may be in use again.
 */
#include "subjects/catalogue/bugs/locked_tell.h"

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
        report_free(address);
        report_alloc(result, site, bytes);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
