/*
 * old_buffers.c -- K27, openj9#6024: what is allocated from a thread's buffer
 * does not ask whether sampling is on; buffers that exist then are not told.
 */
#include "world.h"

enum { BUFFER_BLOCKS = 4 };

static bool is_on = true;
static bool fast_path_looks; /* as of the last refill */
static unsigned left;
static bool is_sampled[ADDRESSES + 1];

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (left == 0) {
        left = BUFFER_BLOCKS;
        fast_path_looks = is_on;
    }
    left--;
    is_sampled[address] = fast_path_looks;
    if (is_sampled[address])
        tell_alloc(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    if (is_sampled[address])
        tell_free(address);
    heap_give(address);
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
    .free = drop,
    .snapshot = told,
    .turn = turn,
};
