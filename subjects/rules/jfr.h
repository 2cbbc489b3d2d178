/*
 * jfr.h -- computes what jdk.ObjectAllocationSample reports, event by event.
 *
 * The rule uses no random numbers: the figures are those of one thread whose
 * buffers have the rate's size, over a whole cycle of the pattern.
 */
#ifndef SUBJECTS_RULES_JFR_H
#define SUBJECTS_RULES_JFR_H

#include "subjects/figures.h"

/* A thread and its buffer; all zero at its start. */
struct subjects_buffer {
    bool begun;
    uint64_t left;      /* in the buffer */
    uint64_t used;      /* of the buffer, not yet in `allocated` */
    uint64_t allocated; /* since the last event: what the next one weighs */
    bool based;         /* the first try only sets the base */
};

/* returns: the weight of the event that an allocation causes, 0 if none */
uint64_t subjects_buffer_step(struct subjects_buffer *buffer,
                              uint64_t buffer_bytes, uint64_t size_bytes);

/* Implement subjects_mean() and subjects_short() (figures.h) for BUFFERED rule
 * sets. */
void subjects_jfr_mean(const struct subjects_rules *rules, uint64_t rate,
                       const uint64_t *sizes, size_t count, double *mean);
double subjects_jfr_short(const struct subjects_rules *rules, uint64_t rate,
                          uint64_t size_bytes, size_t allocations);

#endif
