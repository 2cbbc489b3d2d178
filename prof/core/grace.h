/* grace.h -- waiting out the record calls in flight; theory in grace.c. */
#ifndef PROF_CORE_GRACE_H
#define PROF_CORE_GRACE_H

#include <stdbool.h>

#include "prof/core/atomic.h"

struct prof;

/* A record call is between begin and end of its processor's section. */
struct section {
    shared_u64 calls; /* odd during a call; its processor writes, any thread
                         reads */
    uint64_t seen;    /* `calls` when the cycle last advanced; guarded by
                         control */
};

/*
 * Enter the section of a processor. A signal handler may enter the section of
 * the call that it interrupted.
 *
 * returns: the value to pass to section_end()
 */
static inline uint64_t
section_begin(struct section *section)
{
    const uint64_t calls = load_relaxed(&section->calls);

    /* Release [pair: section]: a thread that waits for the previous call may
     * already see this one begin. The barrier of prof_grace_begin() orders it
     * with what follows. */
    store_release(&section->calls, calls | 1);
    signal_fence(); /* the compiler must not read the cycle before */
    return calls;
}

static inline void
section_end(struct section *section, uint64_t calls)
{
    /* Release [pair: section]: publish what the call counted. */
    if ((calls & 1) == 0)
        store_release(&section->calls, calls + 2);
}

/*
 * Note all record calls that may still see the old cycle.
 *
 * context: control lock held, right after the new cycle was stored
 */
void prof_grace_begin(struct prof *prof);

/*
 * returns: true if every noted call has ended; never waits
 * context: control lock held
 */
bool prof_grace_is_over(const struct prof *prof);

#endif
