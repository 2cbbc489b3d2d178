/*
 * swapped_arguments.c -- K7, jemalloc 4.0.1: the largest possible size and the
 * flag that asks for zeroes are swapped on the way to the sampled xallocx.
 */
#include "subjects/catalogue/small_world.h"

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    report_alloc(address, site, bytes);
    return address;
}

static unsigned
resize_sampled(unsigned site, unsigned address, unsigned most_bytes, bool zero)
{
    const unsigned result = heap_resize(site, address, most_bytes);

    (void)zero;
    if (result == 0)
        return 0;
    report_free(address);
    report_alloc(result, site, most_bytes);
    return result;
}

static unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
#ifdef FIXED
    return resize_sampled(site, address, bytes, false);
#else
    return resize_sampled(site, address, false, bytes);
#endif
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .resize = resize,
    .free = give_if_reported,
    .snapshot = reported,
};
