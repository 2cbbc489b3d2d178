/*
 * freed_new_address.c -- K3, jemalloc#1683: realloc hands the new address to
 * the routine that logs the free of the old block.
 */
#include "subjects/catalogue/bugs/locked_tell.h"

static unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
    unsigned result;

    pthread_mutex_lock(&lock);
    result = heap_resize(site, address, bytes);
    if (result != 0) {
#ifdef FIXED
        report_free(address);
#else
        report_free(result);
#endif
        report_alloc(result, site, bytes);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
