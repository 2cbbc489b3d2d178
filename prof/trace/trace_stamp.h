/* trace_stamp.h -- the clock, and the stamp word, which is held while the clock
 * is read. */
#ifndef PROF_TRACE_TRACE_STAMP_H
#define PROF_TRACE_TRACE_STAMP_H

#include "prof/trace/tracer.h"

#if defined(__x86_64__)
/* The fence keeps the CPU from reading the counter before earlier loads. */
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
 * Take the stamp word. No other thread gets a stamp until the caller stores the
 * returned word plus 2.
 *
 * returns: the word, even
 */
static inline uint64_t
trace_hold_stamp(struct prof_trace *trace)
{
    uint64_t seen = load_relaxed(&trace->stamp); /* the swap checks it */

    for (;;) {
        if ((seen & 1) != 0) {
            prof_port_spin_pause();
            seen = load_relaxed(&trace->stamp); /* same */
            /* Acquire [pair: stamp]: read the clock after the last holder. */
        } else if (cas_acquire(&trace->stamp, &seen, seen + 1)) {
            return seen;
        }
    }
}

#endif
