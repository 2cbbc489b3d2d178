/*
 * go_tape.h -- records the calls that a world makes to the library, and their
 * results, so that the same calls can be made to the Go runtime.
 *
 * The linker puts the tape between the callers of prof/ and the library
 * (--wrap, go_tape.wrap). Both files are lines of words; those of the schedule
 * are read by go_runtime/play.go, those of the answers are also written by it.
 */
#ifndef PROPS_PEERS_GO_TAPE_H
#define PROPS_PEERS_GO_TAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "prof/prof.h"
#include "common/rng.h"
#include "sim/truth/truth.h"

/* Counts of what the schedules met, to check that everything was met. */
struct go_tape_counts {
    uint64_t calls;
    uint64_t shorts;    /* readings whose buffer was too short */
    uint64_t firsts;    /* readings that published everything */
    uint64_t draws;     /* waits for which a random number was taken */
    uint64_t undrawn;   /* waits for which none was */
    uint64_t edges;     /* draws that are kept or dropped by 1 */
    uint64_t wraps;     /* steps from the last cycle number to 0 */
    uint64_t heap_read; /* records compared, by profile */
    uint64_t waits_read;
};

struct go_tape {
    FILE *schedule;
    FILE *answers;
    struct prof *prof;
    const struct truth_stack *stacks;
    uint32_t stacks_count;
    uint32_t depth_max;
    const struct truth_log *truth; /* its last entry has the object; or */
    uint32_t object;               /* this, if there is no log */
    struct sim_rng rng;            /* from which waits draw */
    struct go_tape_counts counts;
};

/* The one tape. It records the calls to `prof` and no others. */
extern struct go_tape go_tape;

/* Write the beginning of a schedule; the tape's other fields must be set. */
void go_tape_begin(uint64_t seed, uint32_t cycle_first);

/* returns: the number that Go's generator (wyrand) gives in this state */
uint32_t go_tape_random(uint64_t state);

#endif
