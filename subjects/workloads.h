/* workloads.h -- the twelve periods of sizes that tell rule sets apart. */
#ifndef SUBJECTS_WORKLOADS_H
#define SUBJECTS_WORKLOADS_H

#include <stddef.h>
#include <stdint.h>

enum { SUBJECTS_WORKLOADS = 12, SUBJECTS_PERIOD_MAX = 17 };

/*
 * out:     sizes, of one period; at most SUBJECTS_PERIOD_MAX
 * in:      number, 1 to SUBJECTS_WORKLOADS: W1 to W12; rate, R below
 * returns: how many
 */
size_t subjects_workload(int number, uint64_t rate, uint64_t *sizes);

#endif
