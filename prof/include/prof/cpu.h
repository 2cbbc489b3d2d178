/*
 * prof/cpu.h -- the CPU profile, made of ticks that signal handlers record.
 *
 *      handlers --prof_cpu_tick()--> ring --prof_cpu_drain()--> stacks --> file
 *
 * A tick is the call stack of the thread that a timer interrupted. Ticks for
 * which there is no room are counted, and shown under the `lost` address: the
 * samples of a profile always sum to the number of ticks.
 *
 * As in Go, readers take every address for a return address, so the handler
 * adds 1 to the address that it interrupted.
 */
#ifndef PROF_CPU_H
#define PROF_CPU_H

#include "prof/pprof.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof_cpu; /* opaque */

#define PROF_CPU_HZ 100 /* ticks per second of CPU time, by default */

/* The labels of a tick: compared by address, valid until the next profile. */
struct prof_label_set {
    const struct prof_label *labels; /* sorted by key, no key twice */
    uint32_t count;                  /* at most PROF_LABELS_MAX */
};

struct prof_cpu_config {
    uint32_t ticks_max;  /* held between two drains; 0: 512 */
    uint32_t stacks_max; /* different ones in a profile; 0: 4096 */
    uint32_t depth_max;  /* frames kept of a stack; 0: 64 */
};

/* returns: bytes that prof_cpu_init() needs, 0 for a wrong configuration */
size_t prof_cpu_bytes_needed(const struct prof_cpu_config *config);

/*
 * Build a CPU profile inside `block`; it is not running.
 *
 * in:      block, aligned to PROF_BLOCK_ALIGN; the profile's from now on
 * returns: PROF_OK, PROF_ERR_CONFIG, PROF_ERR_MEMORY
 */
PROF_NODISCARD enum prof_status
prof_cpu_init(struct prof_cpu **cpu, const struct prof_cpu_config *config,
              void *block, size_t block_bytes);

/*
 * Begin a profile, and forget the previous one.
 *
 * returns: PROF_OK, PROF_ERR_CONFIG, PROF_ERR_ACTIVE (one is being taken),
 *          PROF_ERR_BUSY (a tick of the previous profile is still being
 *          recorded)
 */
PROF_NODISCARD enum prof_status prof_cpu_start(struct prof_cpu *cpu,
                                               uint32_t hz);

/*
 * Record a tick. Does nothing if no profile is being taken.
 *
 * in:      stack, leaf first, cut at depth_max; labels, or NULL
 * context: any thread, signal handlers included; never waits
 */
void prof_cpu_tick(struct prof_cpu *cpu, const uintptr_t *stack, uint32_t depth,
                   const struct prof_label_set *labels);

/* The same for a timer that has expired `count` times; 0 does nothing. */
void prof_cpu_ticks(struct prof_cpu *cpu, const uintptr_t *stack,
                    uint32_t depth, const struct prof_label_set *labels,
                    uint32_t count);

/*
 * Move recorded ticks out of the ring. Call it several times a second while a
 * profile is being taken.
 *
 * context: not a signal handler; waits for other calls of this kind
 */
void prof_cpu_drain(struct prof_cpu *cpu);

/*
 * End the profile; does nothing if none is being taken.
 *
 * returns: PROF_OK: every tick is in the profile. PROF_ERR_BUSY: no more ticks
 *          are taken, but one is still being recorded on another thread; call
 *          again
 */
PROF_NODISCARD enum prof_status prof_cpu_stop(struct prof_cpu *cpu);

/*
 * Write the profile as profile.proto, after prof_cpu_stop().
 *
 * in:      output->time_ns, when the profile began
 *          duration_ns, how long it took; negative (the clock went backwards):
 *          not written
 * returns: PROF_OK, PROF_ERR_ACTIVE (it is still being taken), PROF_ERR_MEMORY,
 *          or the sink's status
 */
PROF_NODISCARD enum prof_status prof_cpu_write(struct prof_cpu *cpu,
                                               const struct prof_output *output,
                                               int64_t duration_ns);

/*
 * Write the profile as text, in the form of count profiles (prof/text.h): most
 * ticks first; among equals, the stack that was recorded first.
 *
 * returns: as prof_cpu_write()
 */
PROF_NODISCARD enum prof_status
prof_cpu_write_text(struct prof_cpu *cpu, const struct prof_output *output);

/*
 * Make a profile not from ticks but from words in the format of Go's runtime: a
 * record {3, 0, hz} and then records {3 + n, time, count, n addresses}. If a
 * record has count 0 and one address, that address is the number of lost ticks.
 *
 * in:      labels, one for each record, the first unused; NULL: no labels
 *          labels_count, their number
 * returns: PROF_OK; PROF_ERR_FORMAT: the profile has the records before the
 *          wrong one; PROF_ERR_ACTIVE
 */
PROF_NODISCARD enum prof_status
prof_cpu_load(struct prof_cpu *cpu, const uint64_t *words, size_t words_count,
              const struct prof_label_set *const *labels, size_t labels_count);

/* How many ticks of the profile were recorded, and how many lost. */
struct prof_cpu_totals {
    uint64_t recorded; /* with their stacks */
    uint64_t lost;     /* ring full, or too many different stacks */
};

/* context: after prof_cpu_stop() */
struct prof_cpu_totals prof_cpu_totals(struct prof_cpu *cpu);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
