/*
 * cross_without.h -- X6: a run is repeated three times, side by side:
 * unchanged, without one instrument, and with that instrument stopped during
 * the second third of the run. All other instruments must have the same results
 * in each.
 */
#ifndef PROPS_CROSS_WITHOUT_H
#define PROPS_CROSS_WITHOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "world.h"

struct cross_without {
    struct sim_limits limits; /* of all worlds; the caller's */
    struct sim_world *whole;  /* made when they are needed */
    struct sim_world *less;
    struct sim_world *stopped;
    struct sim_world *other; /* of these two, the one being compared */
    enum sim_instrument_id left_out;
    bool is_stopped;
    uint32_t switches;    /* of the instrument: 2 if it was started again */
    bool is_sampled;      /* not everything was recorded: what was, is told by
                             buckets and random numbers, which profiles share */
    char difference[256]; /* the first; "": there is none */
};

/* in: without, which may be all zero but for its limits */
void cross_without_release(struct cross_without *without);

/*
 * Repeat a run whose events are all possible, up to a quiet end, at which all
 * traces have been read.
 *
 * in:      left_out, an instrument that the run has
 * returns: false if the result of another one differs; see `difference`
 */
bool cross_without_try(struct cross_without *without,
                       const struct sim_config *config,
                       const struct sim_event *events, uint32_t count,
                       enum sim_instrument_id left_out);

#endif
