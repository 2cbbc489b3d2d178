/*
 * sched_generate.h -- traced worlds out of choices: first which kind of world
 * (swarm), then one event after the other; at the end tracing stops and the
 * trace is read to its end.
 */
#ifndef SIM_SCHED_GENERATE_H
#define SIM_SCHED_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "choice.h"
#include "fault.h"
#include "sched_world.h"

enum {
    SIM_SCHED_EVENTS_MAX = 512,         /* of one generated run */
    SIM_SCHED_GENERATED_STACKS_MAX = 8, /* distinct stacks of a world */
    SIM_SCHED_FRAMES_MAX = 140,         /* deepest stack; the tracer cuts */
};

struct sim_sched_generator {
    struct sim_choices *choices;
    struct sim_sched_config config;
    struct truth_stack stacks[SIM_SCHED_GENERATED_STACKS_MAX];
    uintptr_t frames[SIM_SCHED_GENERATED_STACKS_MAX][SIM_SCHED_FRAMES_MAX];
    struct sim_faults faults;
    uint64_t features; /* by event kind: may it happen at all? */
    uint32_t events;
    uint32_t more_bound; /* 1 in so many steps ends the run */
    bool ends;           /* no more choices: stop and read */
};

/*
 * Draw the world of a run.
 *
 * out:     *generator; its `config` points into it
 * in:      choices, begun
 */
void sim_sched_generator_begin(struct sim_sched_generator *generator,
                               struct sim_choices *choices);

/*
 * Draw the next event that is possible in `world`.
 *
 * out:     *event
 * returns: false when the run is over
 */
bool sim_sched_generator_next(struct sim_sched_generator *generator,
                              const struct sim_sched_world *world,
                              struct sim_sched_event *event);

/*
 * What follows is shared with sched_generate_faults.c.
 *
 * Draw the clocks, and how far the tracer's memory goes.
 */
void sim_sched_draw_limits(struct sim_sched_generator *generator);

/*
 * Does a fault strike now, on a processor or the reader?
 *
 * out:     *event, if so
 */
bool sim_sched_draw_fault(struct sim_sched_generator *generator,
                          const struct sim_sched_world *world, uint32_t proc,
                          struct sim_sched_event *event);

/*
 * The end of a run: no fault strikes any more, what stands still goes on,
 * tracing stops, and the trace is read to its end.
 *
 * out:     *event, the next one
 * returns: false if all that is done
 */
bool sim_sched_quiet_next(const struct sim_sched_world *world,
                          struct sim_sched_event *event);

#endif
