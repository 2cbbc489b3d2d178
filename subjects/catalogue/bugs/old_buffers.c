/*
 * old_buffers.c -- K27, openj9#6024: allocations from a thread's buffer do not
 * check whether sampling is on, and buffers that exist when it is switched on
 * stay unsampled.
 */
#include "subjects/catalogue/small_world.h"

enum { BUFFER_BLOCKS = 4 };

static bool is_on = true;
static bool fast_path_looks; /* as of the last refill */
static unsigned left;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (left == 0) {
        left = BUFFER_BLOCKS;
        fast_path_looks = is_on;
    }
    left--;
    if (fast_path_looks)
        report_alloc(address, site, bytes);
    return address;
}

static void
turn(bool on)
{
    is_on = on;
#ifdef FIXED
    left = 0;
#endif
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
    .turn = turn,
};
