/*
 * prof/process.h -- what profiles of a real process need from Linux: its
 * mappings, the time of day, and timers that tick as its threads use CPU.
 */
#ifndef PROF_PROCESS_H
#define PROF_PROCESS_H

#include "prof/cpu.h"
#include "prof/symbol.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Read the executable mappings of this process.
 *
 * out:     as prof_mappings_parse()
 * in:      text, room for all of /proc/self/maps; the mappings point into it
 * returns: PROF_OK, PROF_ERR_SHORT (either buffer is too small),
 *          PROF_ERR_UNSUPPORTED (/proc/self/maps cannot be read)
 */
PROF_NODISCARD enum prof_status
prof_process_mappings(struct prof_mapping *mappings, size_t mappings_max,
                      size_t *count, char *text, size_t text_max);

/* returns: nanoseconds since 1970, by the system's clock */
int64_t prof_process_time_ns(void);

/* returns: nanoseconds since some moment; never goes back */
int64_t prof_process_monotonic_ns(void);

/* Write the stack that a signal interrupted, leaf first; at most `max`. */
typedef uint32_t prof_unwind(const void *ucontext, uintptr_t *stack,
                             uint32_t max);

/*
 * Direct SIGPROF to a profile.
 *
 * in:      unwind, safe in a signal handler; NULL: the interrupted address only
 * returns: PROF_OK, PROF_ERR_ACTIVE (there is one already),
 *          PROF_ERR_UNSUPPORTED
 */
PROF_NODISCARD enum prof_status prof_process_begin(struct prof_cpu *cpu,
                                                   prof_unwind *unwind);

/* Detach SIGPROF from the profile; first close all timers. Does nothing if
 * there is no profile. */
void prof_process_end(void);

/* The timer of one thread. Ticks that are due more often than the kernel looks
 * at it count, too. */
struct prof_timer {
    void *id; /* a timer_t, which strict C11 has no name for */
};

/*
 * Make the calling thread tick, `hz` times per second of its CPU time.
 *
 * returns: PROF_OK, PROF_ERR_UNSUPPORTED; PROF_ERR_CONFIG (hz)
 */
PROF_NODISCARD enum prof_status prof_timer_open(struct prof_timer *timer,
                                                uint32_t hz);
void prof_timer_close(struct prof_timer *timer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
