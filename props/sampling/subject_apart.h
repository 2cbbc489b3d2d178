/*
 * subject_apart.h -- checkers that compare a subject's figures with the truth.
 * A subject may crash or hang, so they run it in a process of its own.
 *
 * A figure fails if it is more than 7.5 standard errors off. A right figure
 * fails with a chance of 1e-13; one that is really 11.5 standard errors off is
 * missed once in 30,000 times.
 *
 * Standard errors assume that runs are independent. So before a figure counts
 * as wrong, its runs are repeated with some more samples at their end, which
 * tell runs apart. If most of them are copies of others, the random numbers of
 * the harness do not decide what is sampled, and nothing is said of the mean.
 */
#ifndef PROPS_SAMPLING_SUBJECT_APART_H
#define PROPS_SAMPLING_SUBJECT_APART_H

#include <stdbool.h>
#include <stdint.h>

#include "props/sampling/checker.h"
#include "subjects/subject.h"

/* One figure of a cell, over the runs. */
struct subject_figure {
    double sum;
    double squares;
    double truth; /* true value of each run; 0: no such figure */
};

/* What comes back from the process that runs a subject. */
struct subject_result {
    bool done;
    bool failed;
    bool repeats; /* a figure is off, but its runs are not independent */
    uint64_t cells;
    double worst;   /* deviation */
    double noticed; /* least, in the worst cell */
    char text[400];
};

/* Add the value that a run found. */
void props_subject_add(struct subject_figure *figure, double found);

/*
 * Compare the mean of a figure over `runs` runs with the truth.
 *
 * out:     *mean and its standard error *error, both divided by the truth;
 *          *result, except its text
 * returns: false if the mean deviates too far
 */
bool props_subject_weigh(const struct subject_figure *figure, uint32_t runs,
                         struct subject_result *result, double *mean,
                         double *error);

/* Describe a mean and its error as "0.9000 of the truth, standard error
 * 0.01". */
void props_subject_mean(char *text, size_t text_bytes, double mean,
                        double error);

/* returns: a hash of what a run shows */
uint64_t props_subject_print(const double *found, int count);

/*
 * A cell has failed. Withdraw that if its runs are not independent.
 *
 * in/out:  prints, a number for each run, equal for equal runs; sorted
 */
void props_subject_withdraw(uint64_t *prints, uint32_t runs,
                            struct subject_result *result);

/*
 * Tries the cells of its context.
 *
 * in:      memory, for subject_config
 * out:     *result; result->done is set unless begin() returned NULL
 */
typedef void subject_try(const struct subject *subject, void *memory,
                         const void *context, struct subject_result *result);

/* Call try_all in a child process. in: runs of each cell. out: *finding */
void props_subject_apart(const struct subject *subject, subject_try *try_all,
                         const void *context, uint32_t runs,
                         struct props_finding *finding);

#endif
