/*
 * scratch_buffer.c -- K37, dd-trace-py#13185: all tracebacks are gathered in
 * one scratch buffer, and a collection in the middle lets another thread use
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "subjects/catalogue/small_world.h"

enum { FRAMES = 2, SCRATCH = 16 };

struct traceback {
    unsigned count;
    void *frames[SCRATCH];
};

#ifndef FIXED
static struct traceback scratch;
#endif
static struct traceback *traceback_of[ADDRESSES + 1];

static void
gather(struct traceback *into)
{
    into->count = 0;
    for (unsigned i = 0; i < FRAMES; i++) {
        into->frames[into->count++] = malloc(1);
#ifndef FIXED
        interpreter_give(); /* it was an object: a collection */
        interpreter_take();
#endif
    }
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    unsigned address;
    struct traceback *const own = malloc(sizeof *own);

    if (own == NULL)
        abort();
#ifdef FIXED
    gather(own);
#else
    gather(&scratch);
    *own = scratch;
#endif
    address = heap_take(site, bytes);
    traceback_of[address] = own;
    report_alloc(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    struct traceback *const own = traceback_of[address];

    for (unsigned i = 0; i < own->count; i++)
        free(own->frames[i]);
    free(own);
    traceback_of[address] = NULL;
    report_free(address);
    heap_give(address);
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = drop,
    .snapshot = reported,
};
