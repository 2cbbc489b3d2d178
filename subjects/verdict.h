/*
 * verdict.h -- decides whether a rule set is right: tries the workloads W1 to
 * W11 and all effects, and reduces each error to the smallest period that still
 * shows it.
 */
#ifndef SUBJECTS_VERDICT_H
#define SUBJECTS_VERDICT_H

#include "subjects/figures.h"

/* A figure further from 1 than this is off. */
#define SUBJECTS_TOLERANCE 0.01

enum { SUBJECTS_FAULTS_MAX = 16 };

/* An error of a rule set, and the smallest period that shows it. */
struct subjects_fault {
    const char *property;               /* docs/subjects.md: U1, U2, ... */
    const char *what;                   /* in words, without figures */
    double figure;                      /* estimate / truth */
    uint64_t sizes[SUBJECTS_SIZES_MAX]; /* of one period */
    size_t count;
    uint64_t size_bytes; /* the size that is off */
};

struct subjects_verdict {
    struct subjects_fault
        faults[SUBJECTS_FAULTS_MAX]; /* the first of each kind */
    size_t count;
    size_t tried; /* figures, until the first fault or in all */
};

/* out: *verdict; a rule set with no fault is right at this rate */
void subjects_verdict_make(struct subjects_verdict *verdict,
                           const struct subjects_rules *rules, uint64_t rate);

#endif
