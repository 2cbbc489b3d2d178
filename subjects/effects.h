/*
 * effects.h -- computes figures for operations other than a plain allocation:
 * the expected estimate divided by the truth, as in figures.h.
 */
#ifndef SUBJECTS_EFFECTS_H
#define SUBJECTS_EFFECTS_H

#include "subjects/rules/rule_set.h"

/* A figure that the rule set has no meaning for is NAN. */
struct subjects_effects {
    uint64_t zero_ticks;  /* what a request of 0 bytes takes off */
    double aligned_64;    /* a block of this alignment; the truth is */
    double aligned_4096;  /* the size that was asked for */
    double realloc_moved; /* the new block of a realloc that moves */
    double realloc_place; /* the block of one that grows in place */
    double ten;           /* a thread that makes ten allocations */
    double first;         /* the first allocation of a thread */
    double doubled_new;   /* R becomes 2R: the next allocation */
    double doubled_old;   /* what was recorded before */
    double fork; /* correlation of the child's draws with the parent's */
    double full; /* allocations when the table is full */
};

/* in: size_bytes, of every allocation, as requested; at least 1 */
struct subjects_effects subjects_effects(const struct subjects_rules *rules,
                                         uint64_t rate, uint64_t size_bytes);

#endif
