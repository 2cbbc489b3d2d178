/*
 * counter.c -- what spin.h substitutes for the instructions that read the
 * counter of cycles, and that wait for loads.
 *
 * One counter for all processors. A reading after a fence comes later than all
 * that were made before it, on any processor: the counter advances with each. A
 * reading without a fence may find it where the latest left it, or may have
 * been made as early as right after the one before it on the same processor:
 * processors read ahead. The explorer chooses which.
 *
 * The counter orders nothing else: it is relaxed. Code that needs to see what
 * another processor wrote must establish its own order.
 *
 * A processor that takes a reading for one above its last has not overtaken the
 * counter: it moves on by more than the events of a kernel at once.
 */
#include "counter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "explore.h"

enum { STEP = 8 };

/* Far from 0: who counts from there is found out. */
#define FIRST (UINT64_C(1) << 40)

static _Atomic uint64_t counter;

/* Its thread's only. */
static struct processor {
    uint64_t early; /* the least that a reading may be */
    bool waited;    /* for its loads, since the last reading */
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
            /* Not plus 0, which a compiler may take for a load. */
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
