/*
 * cores.h -- simulates processors that count events in shared memory, to find
 * what it costs to move cache lines between them.
 *
 * Each processor repeats for ever: it does some work of its own, then adds to
 * the counter of a row. The counter's cache line stays with the processor that
 * added to it last. Any other processor must wait for a hand-over; processors
 * that want the same line queue for it. The event queue (queue.h) decides which
 * processor is next, a choice list breaks ties, and the seed decides everything
 * else.
 */
#ifndef SIM_CORES_H
#define SIM_CORES_H

#include <stdbool.h>
#include <stdint.h>

/* Where the counter of a row is. */
enum sim_cores_layout {
    SIM_CORES_SHARED, /* one column, eight counters in a cache line */
    SIM_CORES_APART,  /* one column, a cache line for each counter */
    SIM_CORES_OWN,    /* a column for each processor */
    SIM_CORES_LAYOUTS
};

/* How the times of processors and lines vary around their mean. */
enum sim_cores_spread {
    SIM_CORES_FIXED,
    SIM_CORES_UNIFORM, /* work from 0.5 to 1.5 of the mean */
    SIM_CORES_EXPONENTIAL
};

enum { SIM_CORES_MAX = 256 };

struct sim_cores_config {
    uint32_t cores;        /* at most SIM_CORES_MAX */
    uint32_t cores_of_die; /* cores on one die */
    uint64_t work_ps;      /* between additions */
    uint64_t near_ps;      /* a hand-over on a die */
    uint64_t far_ps;       /* from one die to another */
    const uint32_t
        *row_ends; /* row i is drawn by 32-bit numbers below row_ends[i] */
    uint32_t rows;
    enum sim_cores_layout layout;
    enum sim_cores_spread spread;
    uint64_t seed;
};

struct sim_cores_result {
    uint64_t additions; /* counted after the first quarter, which warms up */
    uint64_t handovers; /* hand-overs of lines in these */
    uint64_t span_ps;   /* time that they took */
};

/*
 * Run a machine until it has made `additions`.
 *
 * out:     *result
 * in:      config; additions, at least 4
 * returns: false if there is not enough memory
 */
bool sim_cores_run(struct sim_cores_result *result,
                   const struct sim_cores_config *config, uint64_t additions);

#endif
