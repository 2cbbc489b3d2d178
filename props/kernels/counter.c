/*
 * counter.c -- a model of the processor's cycle counter: spin.h calls these
 * functions in the place of the instructions that read the counter (rdtsc) and
 * that wait for earlier loads (lfence).
 *
 * All processors share one counter. A reading after a fence is larger than all
 * readings made before it on any processor, because each reading advances the
 * counter. A reading without a fence may equal the latest one; or it may be as
 * old as the previous reading of the same processor, since processors execute
 * loads ahead of time. The explorer chooses which.
 *
 * The counter itself is relaxed. Code that needs to see what another processor
 * wrote must establish that order by other means.
 *
 * The library may give an event the time "last reading + 1". Such times never
 * overtake the counter, because each of its steps is larger than the number of
 * events in a kernel.
 */
#include "props/kernels/counter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "explore/engine/explore.h"

enum { STEP = 8 };

/* Far from 0, so that code that wrongly starts from 0 is noticed. */
#define FIRST (UINT64_C(1) << 40)

static _Atomic uint64_t counter;

/* The state of a processor, which only its own thread accesses. */
static struct processor {
    uint64_t early; /* the least that its next reading may be */
    bool waited;    /* it has fenced its loads since its last reading */
} processors[SIM_THREADS_MAX];

void
counter_new(void)
{
    atomic_store_explicit(&counter, FIRST, memory_order_relaxed);
    memset(processors, 0, sizeof processors);
}

void
sim_explore_load_fence(void)
{
    processors[sim_explore_thread()].waited = true;
}

static uint64_t
reading(const struct processor *own)
{
    if (!own->waited && own->early != 0) {
        switch (sim_explore_choose(3, SIM_CLOCK)) {
        case 1:
            return own->early;
        case 2:
            /* Adds 1, not 0: a compiler may turn an addition of 0 into a
             * load. */
            return atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        default:
            break;
        }
    }
    return STEP +
           atomic_fetch_add_explicit(&counter, STEP, memory_order_relaxed);
}

unsigned long long
sim_explore_counter(void)
{
    struct processor *const own = &processors[sim_explore_thread()];

    own->early = reading(own);
    own->waited = false;
    return own->early;
}
