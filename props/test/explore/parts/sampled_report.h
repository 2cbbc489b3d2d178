/* sampled_report.h -- the report of a failure that random runs have found. */
#ifndef PROPS_SAMPLED_REPORT_H
#define PROPS_SAMPLED_REPORT_H

#include <stdint.h>

struct sim_kernel;

/*
 * Compare the report with a run of its list.
 *
 * in:      silent_ms, as in the options of a run; 0: not set
 */
void sampled_report_check(const struct sim_kernel *kernel, uint32_t silent_ms,
                          uint64_t seed);

#endif
