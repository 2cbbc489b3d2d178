/*
 * golden.h -- reads fixtures/audit/golden.csv: figures that were computed
 * elsewhere.
 */
#ifndef PROPS_GOLDEN_H
#define PROPS_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>

#include "figures.h"
#include "workloads.h"

struct golden {
    char line[256];
    char kind[16];
    uint64_t rate;
    const struct subjects_rules *rules;
    char workload[16];
    char size[16];
    double value;
    double tolerance;
};

/* A workload, enumerated once for all of its rows. Start with {0}. */
struct golden_workload {
    const struct subjects_rules *rules;
    uint64_t rate;
    int number;
    size_t count;
    uint64_t sizes[SUBJECTS_PERIOD_MAX];
    double mean[SUBJECTS_PERIOD_MAX];
};

/* Open fixtures/audit/golden.csv and read its first line. returns: never
 * NULL */
FILE *golden_open(void);

/* Read the next row. returns: false at the end of the file */
bool golden_next(FILE *file, struct golden *golden);

/* Compute the figure of the row, by `rules`, which may be others than the
 * row's. */
double golden_figure(const struct golden *golden,
                     const struct subjects_rules *rules,
                     struct golden_workload *workload);

/* Does `figure` agree with the row's in the digits given? */
bool golden_is(const struct golden *golden, double figure);

#endif
