/*
 * estimate.h -- estimates how many runs a search still needs.
 *
 * Weighted backtracking: each run counts as the share of the tree that it would
 * be if all answers of a question led to subtrees of the same size. So
 *
 *      all runs  =  runs seen / share of the tree done
 *
 * The error is the standard error of this ratio over batches of runs, as if the
 * batches were drawn at random. It cannot foresee a late part of the tree that
 * differs from all before it.
 */
#ifndef EXPLORE_SEARCH_ESTIMATE_H
#define EXPLORE_SEARCH_ESTIMATE_H

#include <stdint.h>

enum { SIM_BATCHES_MAX = 32 };

struct sim_estimate {
    double runs[SIM_BATCHES_MAX]; /* in each stretch */
    double share[SIM_BATCHES_MAX];
    uint32_t count;   /* stretches */
    uint32_t points;  /* of the last one, so far */
    uint32_t per;     /* points that make a stretch */
    double runs_seen; /* at the latest point */
    double share_seen;
};

void sim_estimate_begin(struct sim_estimate *e);

/* in: what has been done up to now; share in [0, 1] */
void sim_estimate_add(struct sim_estimate *e, double runs, double share);

/*
 * out:     *error, one standard error, in runs
 * returns: runs left; with *error, 0 while there is not enough data
 */
double sim_estimate_left(const struct sim_estimate *e, double *error);

#endif
