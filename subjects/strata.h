/*
 * strata.h -- one point in each block of R bytes, for each size class.
 *
 *      class 48..55   [     .    |  .       |         .|    .     ]
 *                      allocations of these sizes, in order; a point is
 *                      uniform in its block of R bytes
 *
 * An allocation counts R bytes for each point in it. On average that is its
 * size, whatever was allocated before, because each byte is its block's point
 * with probability 1/R. Sizes from R up are always sampled and belong to no
 * block.
 *
 * Why this varies less than independent samples: if b of the R bytes of a block
 * are live, it reports R bytes with probability b/R. The variance is b (R - b),
 * against b R with independent samples. So a block that is mostly live or
 * mostly dead adds little, and no block adds more than before. Size classes
 * keep live and dead objects apart, because in most programs an object's
 * lifetime depends on its size.
 */
#ifndef SUBJECTS_STRATA_H
#define SUBJECTS_STRATA_H

#include "subjects/figures.h"

enum { SUBJECTS_CLASSES = 256 };

/* returns: the class of a size, four in each doubling */
unsigned subjects_class(uint64_t size_bytes);

/* A class of one thread; all zero at its start. */
struct subjects_stratum {
    uint64_t passed; /* bytes of the block */
    uint64_t point;  /* where in it the point lies, from 0 */
};

/*
 * in:      draw, returns a random number below rate; it is called where a block
 *          begins
 *          rate, R
 *          size_bytes; from R up, the stratum is not changed
 * returns: how many points lie in the allocation; 1 from R up
 */
uint64_t subjects_stratum_step(struct subjects_stratum *stratum, uint64_t rate,
                               uint64_t size_bytes,
                               uint64_t (*draw)(void *context, uint64_t rate),
                               void *context);

/* Implement subjects_mean(), subjects_variance() and subjects_short()
 * (figures.h) for STRATA rule sets. */
void subjects_strata_mean(const struct subjects_rules *rules, uint64_t rate,
                          const uint64_t *sizes, size_t count, double *mean);
double subjects_strata_variance(const struct subjects_rules *rules,
                                uint64_t rate, uint64_t size_bytes);
double subjects_strata_short(const struct subjects_rules *rules, uint64_t rate,
                             uint64_t size_bytes, size_t allocations);

#endif
