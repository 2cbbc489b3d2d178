/*
 * yielding_hook.c -- K36, dd-trace-py#16396: the hook asks the interpreter for
 * the thread's name, which may let another thread run in the middle of an
 * allocation.
 */
#include "subjects/catalogue/small_world.h"

static void
ask_for_name(void)
{
#ifndef FIXED
    interpreter_give();
    interpreter_take();
#endif
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    ask_for_name();
    report_alloc(address, site, bytes);
    return address;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
};
