/*
 * law.h -- the distributions and estimates that several rule sets have in
 * common.
 *
 * All have the mean `rate`, called R below; x is size / R.
 */
#ifndef SUBJECTS_LAW_H
#define SUBJECTS_LAW_H

#include <stdint.h>

#include "subjects/rules/rule_set.h"

/*
 * returns: E, an exponential number of mean R made from 26 random bits, as in
 * tcmalloc, gperftools and profilers derived from them: q = 1 + number, E = -R
 * ln(q / 2^26), computed by the machine's log2.
 */
double subjects_law_26_bits(uint64_t rate, uint64_t number);

/* returns: P(floor(E) >= n), found by counting the q up to 2^26 e^(-n/R) */
double subjects_law_26_bits_least(uint64_t rate, uint64_t n);

/* returns: -R ln(u), u in (0, 1], for a number of 53 bits */
double subjects_law_exponential(double mean, uint64_t number);

/* returns: e^(-n/mean) */
double subjects_law_survives(double mean, uint64_t n);

/*
 * Derive a rule set's distribution from its draw: P(threshold > n) is the share
 * of random numbers whose threshold is above n, found by bisection.
 */
double subjects_law_count(const struct subjects_rules *rules, uint64_t rate,
                          uint64_t n);

/* Three estimates: S / (1 - e^(-x)); R; max(S, R). */
double subjects_estimate_scaled(const struct subjects_sample *sample);
double subjects_estimate_rate(const struct subjects_sample *sample);
double subjects_estimate_max(const struct subjects_sample *sample);

#endif
