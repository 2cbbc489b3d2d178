/*
 * live_variance.h -- computes how much a sampling profiler's estimate of the
 * live bytes varies, for the allocations of a recorded program.
 *
 * Time is counted in bytes allocated. Under every rule here, the estimate of
 * the bytes live at a moment is right on average. Its variance is computed
 * exactly from the chances, without random numbers, and averaged over MOMENTS
 * moments.
 */
#ifndef SUBJECTS_LIVE_VARIANCE_H
#define SUBJECTS_LIVE_VARIANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUBJECTS_MOMENTS = 32 };

struct subjects_object {
    uint64_t size_bytes; /* at least 1 */
    uint64_t born;       /* bytes allocated by then, itself among them */
    uint64_t died;       /* UINT64_MAX: it did not */
};

struct subjects_live {
    double samples;  /* expected, of the whole run */
    double variance; /* of live bytes, on average over the moments */
};

/* Objects in order of birth, of one thread. */
struct subjects_history {
    const struct subjects_object *objects;
    size_t count;
    uint64_t bytes; /* allocated in all: the last one's birth */
};

/* returns: live bytes, on average over the moments */
double subjects_live_bytes(const struct subjects_history *history);

/* Independent samples of chance 1 - e^(-S/R), as rules `exact` takes them. */
struct subjects_live subjects_live_exact(const struct subjects_history *history,
                                         double rate);

/* One point in each block of R bytes of a size class (strata.h). */
struct subjects_live
subjects_live_strata(const struct subjects_history *history, double rate);

/* The same, with the R that gives `samples` samples. out: *rate */
struct subjects_live
subjects_live_strata_of(const struct subjects_history *history, double samples,
                        double *rate);

/*
 * The least variance of `samples` independent samples, if the chance p of each
 * size S may be chosen freely. With a_S allocations and L_S live objects of
 * size S, it is p = min(1, lambda S sqrt(L_S / a_S)): Lagrange's minimum of the
 * sum of L_S S^2 (1/p - 1) for a given sum of a_S p.
 */
struct subjects_live
subjects_live_best_chances(const struct subjects_history *history,
                           double samples);

/* The least variance that strata can reach with at most `samples` samples, if
 * each size class may have its own R, a power of sqrt 2. It is a lower bound,
 * not a sampler: which R are best is known only after the run. */
struct subjects_live
subjects_live_best_strata(const struct subjects_history *history,
                          double samples);

#endif
