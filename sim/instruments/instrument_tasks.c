/*
 * instrument_tasks.c -- the goroutine profile of a world.
 *
 * The world is stopped while the profile is read. If the buffer is too small,
 * only the count is returned. Tasks may be created before the next attempt, so
 * a runtime then passes a buffer with room to spare.
 */
#include "sim/instruments/instrument_tasks.h"

#include <stdlib.h>

struct tasks {
    struct sim_instrument instrument;
    struct sim_tasks_reading reading;
};

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);

    (void)limits;
    if (tasks == NULL)
        return NULL;
    tasks->instrument.kind = &sim_tasks;
    return &tasks->instrument;
}

static void
destroy(struct sim_instrument *instrument)
{
    free(instrument);
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct tasks *tasks = (struct tasks *)instrument;

    if (!sim_world_config(world)->scheduled)
        return "there are no tasks to list where processors take none";
    tasks->reading.readings = 0;
    tasks->reading.count = 0;
    return NULL;
}

static void
hear(struct sim_instrument *instrument, struct sim_world *world,
     const struct truth_entry *fact)
{
    struct sim_tasks_reading *reading = &((struct tasks *)instrument)->reading;

    sim_task_list(&reading->list, world, fact->task, false);
    reading->readings++;
    reading->task = fact->task;
    reading->count = reading->list.count;
    reading->fits = reading->count <= fact->room;
    if (!reading->fits)
        reading->list.count = 0;
}

static sim_hear *
hears(enum truth_kind kind)
{
    return kind == TRUTH_GOROUTINES ? hear : NULL;
}

const struct sim_instrument_kind sim_tasks = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
};

const struct sim_tasks_reading *
sim_tasks_reading(const struct sim_world *world)
{
    return &((struct tasks *)sim_world_instrument(world, SIM_TASKS))->reading;
}
