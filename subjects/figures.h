/*
 * figures.h -- computes what a rule set reports on average, divided by what
 * happened.
 *
 * Every figure is enumerated: no random number is drawn. Probabilities below
 * 1e-15 are left out, and arithmetic is in doubles; the error of a figure is
 * below 1e-8.
 */
#ifndef SUBJECTS_FIGURES_H
#define SUBJECTS_FIGURES_H

#include "subjects/rules/rule_set.h"

enum { SUBJECTS_SIZES_MAX = 64 };

/*
 * One thread, which began long ago, allocates a period of sizes for ever.
 *
 * in:      sizes, as the rules count them; 1 to SUBJECTS_SIZES_MAX
 * out:     mean[i], the expected estimate of the bytes of position i
 */
void subjects_mean(const struct subjects_rules *rules, uint64_t rate,
                   const uint64_t *sizes, size_t count, double *mean);

/*
 * returns: the variance per sample if only one size is allocated: the limit of
 * m Var(Y) / E[Y]^2, where Y is the estimated bytes and m the expected number
 * of samples. If this is v, a profile of m samples has a relative standard
 * deviation of sqrt(v / m).
 */
double subjects_variance(const struct subjects_rules *rules, uint64_t rate,
                         uint64_t size_bytes);

/* returns: the expected estimate divided by the truth, over all seeds, for a
 * thread that makes `allocations` allocations of one size and ends */
double subjects_short(const struct subjects_rules *rules, uint64_t rate,
                      uint64_t size_bytes, size_t allocations);

/* out: chance[i], the probability that an allocation at position i is sampled;
 * the rest as for subjects_mean() */
void subjects_chances(const struct subjects_rules *rules, uint64_t rate,
                      const uint64_t *sizes, size_t count, double *chance);

/* returns: for live objects of one size, the expected estimate divided by the
 * truth. It differs from that of subjects_mean() only if the tool estimates
 * live objects in another way */
double subjects_live(const struct subjects_rules *rules, uint64_t rate,
                     uint64_t size_bytes);

/*
 * One site that allocates all sizes in turn, for a reader that knows only the
 * site's mean size, in the limit of many samples.
 *
 * out:     objects, bytes: estimates divided by the truth
 */
struct subjects_site {
    double objects;
    double bytes;
};
struct subjects_site subjects_mixed_site(const struct subjects_rules *rules,
                                         uint64_t rate, const uint64_t *sizes,
                                         size_t count);

#endif
