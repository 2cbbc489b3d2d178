/* failing_run.h -- a failing run that is reported; private to this folder. */
#ifndef EXPLORE_REPORT_FAILING_RUN_H
#define EXPLORE_REPORT_FAILING_RUN_H

#include "explore/engine/engine.h"

struct engine;

enum {
    REPORT_LOCATIONS_MAX = 64,
    LOCATION_BYTES = 24,
    CHOICE_BYTES = 64,
    CURVE_POINTS_MAX = 24,
    CURVE_RUNS = 500,
};

struct replay {
    const struct sim_exhaust_result *result;
    struct sim_choices choices;
    struct sim_choice *list;
    struct sim_run run;
    uint32_t stays;     /* answers to stay blocked in the best list so far */
    uint32_t surprises; /* answers other than 0 in it */
    uint32_t idle;      /* threads that wait in it for one that has not come */
    const struct trace_event *trace; /* of the shrunk run */
    uint32_t trace_count;
    bool needed[TRACE_MAX];
    uint32_t kept;
    bool *necessary; /* for each choice, once measured */
    uint32_t curve[CURVE_POINTS_MAX + 2][2]; /* choices fixed, percent */
    uint32_t curve_count;
};

/* Addresses without a name, by the number that replaces each. */
struct report_locations {
    uintptr_t address[REPORT_LOCATIONS_MAX];
    uint32_t count;
};

/* May the answer be to wait for a thread? */
bool sim_report_waits(const struct sim_exhaust_result *result,
                      const struct sim_choice *c);

/* Each writes a text, cut to its room: LOCATION_BYTES, or `bytes`. */
void sim_report_location(struct report_locations *locations, char *text,
                         uintptr_t address);
void sim_report_value(const struct replay *replay,
                      struct report_locations *locations, char *text,
                      uint64_t value);
void sim_report_event(const struct replay *replay,
                      struct report_locations *locations, char *text,
                      size_t bytes, const struct trace_event *v);
void sim_report_choice(const struct sim_exhaust_result *result,
                       const struct sim_choice *c, char *text, size_t bytes);

/* Print the members of the report as JSON (docs/pages.md), without braces. */
void sim_report_data(struct engine *e, FILE *file,
                     const struct sim_kernel *kernel,
                     const struct replay *replay);

#endif
