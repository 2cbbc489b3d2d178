/*
 * flag_for_two.c -- K40, dd-trace-rb#6252: the flag that means "a sample is
 * being taken" is also set during postponed work, so samples are skipped then.
 */
#include "subjects/catalogue/small_world.h"

static bool is_sampling;
static bool is_committing;

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    if (is_sampling)
        return address;
    is_sampling = true;
    report_alloc(address, site, bytes);
    is_sampling = false;
    return address;
}

/* Commit what was sampled. It calls methods, so others may run. */
static void
job(void)
{
#ifdef FIXED
    bool *const flag = &is_committing;
#else
    bool *const flag = &is_sampling;
#endif

    (void)is_committing;
    *flag = true;
    interpreter_give();
    interpreter_take();
    *flag = false;
}

const struct profiler profiler = {
    .manner = INTERPRETED,
    .alloc = alloc,
    .free = give_if_reported,
    .snapshot = reported,
    .job = job,
};
