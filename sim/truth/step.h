/*
 * step.h -- the truth log of scheduling: what tasks and processors really did,
 * in order, one step after the other.
 *
 * The world appends; the model reads, and reads nothing else. A step states a
 * fact; it never holds anything the tracer answered, nor whether the tracer was
 * told.
 */
#ifndef SIM_TRUTH_STEP_H
#define SIM_TRUTH_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "truth.h"

#define TRUTH_NO_PROC  UINT32_MAX
#define TRUTH_NO_STACK UINT32_MAX

enum truth_step_kind {
#define X(id, text) id,
#include "step.def"
#undef X
    STEP_COUNT
};

struct truth_step {
    enum truth_step_kind kind;
    uint32_t proc;  /* where; TRUTH_NO_PROC: on none */
    uint64_t task;  /* who; 0: no task, the scheduler */
    uint64_t other; /* whom it is done to, if anybody */
    uint64_t value; /* thread, number, bytes */
    uint32_t stack; /* index into the log's stacks; TRUTH_NO_STACK: empty */
    uint64_t ticks; /* what the clock there read then */
    uint64_t ns;    /* what the system's clock read then */
};

struct truth_steps {
    struct truth_step *steps;
    uint32_t count;
    uint32_t max;
    const struct truth_stack *stacks;
    uint32_t stacks_count;
    uint32_t lost; /* steps that did not fit; a run with any is void */
};

/* Append a step; counted in `lost` if the log is full. */
void truth_step_append(struct truth_steps *log, const struct truth_step *step);

/* returns: what a kind means, a few words */
const char *truth_step_text(enum truth_step_kind kind);

/* returns: a hash of all steps, equal for equal logs on any machine */
uint64_t truth_steps_hash(const struct truth_steps *log);

#endif
