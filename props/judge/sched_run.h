/*
 * sched_run.h -- one judged run of a traced world, out of choices or out of
 * events.
 */
#ifndef PROPS_SCHED_RUN_H
#define PROPS_SCHED_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "choice.h"
#include "sched_generate.h"
#include "trace_judge.h"

/* What a run has done, in memory that a parent process shares. */
struct sched_trail {
    uint32_t count;      /* events applied */
    uint32_t attempting; /* 1 while the next one is being applied */
    struct sim_sched_event events[];
};

struct sched_run {
    struct sim_sched_world *world;
    struct trace_judge judge;
    struct sim_sched_generator generator;
    struct sched_trail *trail;
    uint32_t events_max;
    struct props_marks marks;
    uint64_t hash; /* of the run: truth and bytes */
};

/* returns: NULL if there is not enough memory */
struct sched_run *sched_run_new(uint32_t events_max);
void sched_run_delete(struct sched_run *run);

/*
 * Generate a world and its events from choices, and judge its traces.
 *
 * in:      choices, begun; asked, the properties that count
 * returns: true if nothing was broken; else run->judge.breach says what
 */
bool sched_run_choices(struct sched_run *run, struct sim_choices *choices,
                       props_set asked);

/*
 * Run given events.
 *
 * out:     *refused, NULL or why the world or an event is impossible
 * returns: as sched_run_choices(); true if something was refused
 */
bool sched_run_events(struct sched_run *run,
                      const struct sim_sched_config *config,
                      const struct sim_sched_event *events, uint32_t count,
                      props_set asked, const char **refused);

#endif
