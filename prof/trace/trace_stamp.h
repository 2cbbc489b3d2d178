/* trace_stamp.h -- the clock, and the word that is held while it is read. */
#ifndef PROF_TRACE_STAMP_H
#define PROF_TRACE_STAMP_H

#include "tracer.h"

#if defined(__x86_64__)
/* The counter may be read early, but not before earlier loads. */
static inline uint64_t
cycle_counter(void)
{
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
}
#else
static inline uint64_t
cycle_counter(void)
{
    return prof_port_now_ns();
}
#endif

/* Read the clock, not before earlier loads. */
static inline uint64_t
trace_ticks_now(const struct prof_trace *trace)
{
    return trace->clock.ticks != NULL ? trace->clock.ticks(trace->clock.context)
                                      : cycle_counter();
}

/*
 * Take the stamp word: no other thread gets a stamp until the word is stored
 * again, plus 2.
 *
 * returns: the word, even
 */
static inline uint64_t
trace_hold_stamp(struct prof_trace *trace)
{
    uint64_t seen = load_relaxed(&trace->stamp); /* the swap looks again */

    for (;;) {
        if ((seen & 1) != 0) {
            prof_port_spin_pause();
            seen = load_relaxed(&trace->stamp); /* same */
            /* Acquire [pair: stamp]: the clock after the one before. */
        } else if (cas_acquire(&trace->stamp, &seen, seen + 1)) {
            return seen;
        }
    }
}

#endif
