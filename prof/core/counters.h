/* counters.h -- counters of rows, in columns; the theory is in counters.c. */
#ifndef PROF_CORE_COUNTERS_H
#define PROF_CORE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "prof/core/atomic.h"

enum { COUNTER_SLOTS = 3 };

/* PROF_HEAP_STAGES: the two slots that count, and a third that only
 * publishes. */
enum { PREVIOUS, RECENT, MOVED };

/* A row's counts in a slot are one word; these are its halves. */
enum half { ALLOCS, FREES, HALVES };

/* A contention row's sums, of one processor. */
struct wait {
    shared_u64 count; /* a double's bits under PROF_BLOCK_CORRECTED */
    shared_u64 cycles;
};

/* The columns that all processors of an instance share. */
struct counters {
    uint64_t *published[COUNTER_SLOTS];      /* by row; guarded by control */
    uint32_t *published_high[COUNTER_SLOTS]; /* by row and half; the same */
    shared_u32 *carried[COUNTER_SLOTS];      /* by row and half; any thread
                                                adds */
    shared_u32 carries; /* 1: some count has passed 2^32; any thread */
};

/* The columns of one processor; any thread reads. */
struct columns {
    /* By row. Every slot appears twice, so that an index may run past the last
     * slot without a modulo. */
    shared_u64 *slots[2 * COUNTER_SLOTS];
    struct wait *waits;
};

struct prof;
struct prof_proc;

/*
 * Carry into the upper half of a count that has just wrapped to 0.
 *
 * in:      slot, below 2 * COUNTER_SLOTS
 * context: as the record call that noticed
 */
void prof_counters_carry(struct prof_proc *proc, uint32_t slot, uint32_t row,
                         enum half half);

/* Two numbers of one row. */
struct row_counts {
    uint64_t allocs;
    uint64_t frees;
};

/* returns: all that was ever counted in a row. context: any thread */
struct row_counts prof_counters_recorded(const struct prof *prof, uint32_t row);

/* returns: the published counts of a row. context: control lock held */
struct row_counts prof_counters_published(const struct prof *prof,
                                          uint32_t row);

/* The same two functions for all rows together. */
struct row_counts prof_counters_recorded_all(const struct prof *prof);
struct row_counts prof_counters_published_all(const struct prof *prof);

/* returns: the published counts of a row, without a call. in: counters, of a
 * ring, all below 2^32 */
static inline struct row_counts
prof_counters_published_low(const struct counters *counters, uint32_t row)
{
    const uint64_t first = counters->published[0][row];
    const uint64_t second = counters->published[1][row];
    const uint64_t third = counters->published[2][row];

    return (struct row_counts){
        .allocs =
            (uint64_t)(uint32_t)first + (uint32_t)second + (uint32_t)third,
        .frees = (first >> 32) + (second >> 32) + (third >> 32),
    };
}

/*
 * Publish a slot to which no thread adds allocations; frees may arrive.
 *
 * in:      slot, below COUNTER_SLOTS
 * context: control lock held
 */
void prof_counters_publish(struct prof *prof, uint32_t slot);

/* Publish all slots of a ring; events may arrive. context: control lock held */
void prof_counters_publish_all(struct prof *prof);

/* Advance the stages by one; events may arrive. context: control lock held */
void prof_counters_rotate(struct prof *prof);

/*
 * Make the carry that a record call could not make before the fork. It shows by
 * a counter of 0 and a sum below what was published (I2).
 *
 * in:      proc, whose thread is gone
 * context: as prof_after_fork_child()
 */
void prof_counters_mend(struct prof_proc *proc);

#endif
