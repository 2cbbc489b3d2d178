/*
 * heap_time.h -- the heap of a recorded program over time, by site, and the
 * error that an estimate by sampling would have.
 *
 * The run is cut into bins of equal length. A bin shows its moment with the
 * most bytes in use: nothing is averaged, its sites add up exactly, and the
 * highest bin is the peak.
 */
#ifndef RECORD_REPORT_HEAP_TIME_H
#define RECORD_REPORT_HEAP_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/recording/recording.h"

enum {
    CLI_TIME_BINS = 300,
    CLI_TIME_SITES = 11, /* and one more for all others */
    CLI_TIME_RATE_BYTES = 524288
};

struct cli_time_bin {
    uint64_t bytes[CLI_TIME_SITES + 1]; /* by site; the last: all others */
    double sigma_bytes; /* of an estimate of the sum from one sample per
                           CLI_TIME_RATE_BYTES on average */
    uint64_t allocs;    /* in the bin */
};

struct cli_time_lock {
    uint64_t lock;
    uint64_t waits;
    uint64_t ticks;
    uint64_t longest_ticks;
    uint32_t longest_stack;
};

struct cli_heap_time {
    struct cli_time_bin bins[CLI_TIME_BINS];
    uint32_t sites[CLI_TIME_SITES]; /* those with the highest peaks */
    uint32_t sites_count;
    struct cli_time_lock *locks; /* by time waited for, longest first */
    uint64_t locks_count;        /* that threads waited for */
};

/*
 * Walk a recording twice.
 *
 * out: *time, to be closed
 * in:  site_of[stack], the number of its site, below sites_count
 */
void cli_heap_time_open(struct cli_heap_time *time,
                        const struct sim_recording *recording,
                        const uint32_t *site_of, uint32_t sites_count);
void cli_heap_time_close(struct cli_heap_time *time);

#endif
