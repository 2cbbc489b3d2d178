/*
 * dying_object.c -- K39, dd-trace-rb#5936: live objects are stored by id and
 * looked up at the snapshot. The lookup may return an object that is being
 * destroyed.
 */
#include "subjects/catalogue/small_world.h"

struct known {
    bool is_open;
    bool was_object;
    unsigned site;
};

static struct known known[ADDRESSES + 1];

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    known[address] = (struct known){.is_open = true, .site = site};
    return address;
}

static void
drop(unsigned address)
{
    known[address].is_open = false;
    heap_give(address);
}

/* returns: bytes of an open address; 0: it is gone */
static unsigned
look_up(unsigned address)
{
    const struct object *const object = object_at(address);

    if (object == NULL)
        return known[address].was_object ? 0 : heap_bytes(address);
    known[address].was_object = true;
#ifdef FIXED
    if (object->is_dying)
        return 0;
#endif
    return *object->bytes;
}

static void
snapshot(struct shown *shown)
{
    for (unsigned i = 1; i <= ADDRESSES; i++) {
        const unsigned bytes = known[i].is_open ? look_up(i) : 0;

        if (bytes == 0)
            continue;
        shown[known[i].site].objects++;
        shown[known[i].site].bytes += bytes;
    }
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .snapshot = snapshot,
    .is_collected = true,
};
