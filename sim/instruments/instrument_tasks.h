/* instrument_tasks.h -- the last reading of the goroutine profile. */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_TASKS_H
#define SIM_INSTRUMENTS_INSTRUMENT_TASKS_H

#include "sim/instruments/task_list.h"

/* The last reading of the profile. */
struct sim_tasks_reading {
    uint32_t readings; /* so far; 0: there is none */
    uint32_t task;     /* that read the profile */
    bool fits;         /* into the buffer */
    size_t count;
    struct sim_task_list list; /* if it fits */
};

/* in: world, which carries it */
const struct sim_tasks_reading *
sim_tasks_reading(const struct sim_world *world);

#endif
