/*
 * sched_text.h -- schedule files (`.sim`): the whole story of a traced world as
 * text. docs/schedules.md describes the format.
 */
#ifndef SIM_SCHED_TEXT_H
#define SIM_SCHED_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario.h"
#include "sched_world.h"

enum {
    SIM_SCHEDULE_EVENTS_MAX = 2048,
    SIM_SCHEDULE_STACKS_MAX = 64,
    SIM_SCHEDULE_FRAMES_MAX = 256, /* of one stack */
};

struct sim_schedule {
    struct sim_sched_config config;
    struct sim_sched_event *events; /* its own */
    uint32_t events_count;
    struct truth_stack stacks[SIM_SCHEDULE_STACKS_MAX];
    char names[SIM_SCHEDULE_STACKS_MAX][65];
    char broken[8]; /* property that must break; "" : none may */
    uint32_t broken_line;
};

/*
 * Read a schedule, from memory or a file.
 *
 * in:      name, for messages
 * returns: NULL and *error, `FILE:LINE: reason`, if it is none
 */
struct sim_schedule *sim_schedule_parse(const char *text, size_t bytes,
                                        const char *name,
                                        struct sim_error *error);
struct sim_schedule *sim_schedule_read(const char *path,
                                       struct sim_error *error);

/* in: schedule, NULL does nothing */
void sim_schedule_free(struct sim_schedule *schedule);

/* What is printed. Everything is borrowed. */
struct sim_schedule_source {
    const struct sim_sched_config *config;
    const struct sim_sched_event *events;
    uint32_t events_count;
    const char *header; /* lines, each ended */
    const char *broken; /* property, or NULL */
};

/* Write it in its one form. returns: false on a write error */
bool sim_schedule_print(FILE *file, const struct sim_schedule_source *source);

#endif
