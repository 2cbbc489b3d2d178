/*
 * cross_without.h -- X6: a run is repeated three times, side by side:
 * unchanged, without one instrument, and with that instrument stopped during
 * the second third of the run. All other instruments must have the same results
 * in each.
 */
#ifndef PROPS_CROSS_CROSS_WITHOUT_H
#define PROPS_CROSS_CROSS_WITHOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world/world.h"

struct cross_without {
    struct sim_limits limits; /* of all worlds; set by the caller */
    struct sim_world *whole;  /* made when needed */
    struct sim_world *less;
    struct sim_world *stopped;
    struct sim_world *other; /* the one of the two that is being compared */
    enum sim_instrument_id left_out;
    bool is_stopped;
    uint32_t switches;    /* how often the instrument was stopped or started: 2
                           * if started again */
    bool is_sampled;      /* not everything is recorded: buckets and random
                           * numbers, which the profiles share, decide what
                           * is */
    char difference[256]; /* the first difference; "": none */
};

/* in: without, all zero except for its limits, or in use */
void cross_without_release(struct cross_without *without);

/*
 * Repeat a run whose events are all possible, followed by a quiet end at which
 * all traces have been read.
 *
 * in:      left_out, an instrument that the run has
 * returns: false if the result of another instrument differs; see `difference`
 */
bool cross_without_try(struct cross_without *without,
                       const struct sim_config *config,
                       const struct sim_event *events, uint32_t count,
                       enum sim_instrument_id left_out);

#endif
