/*
 * run.h -- one judged run of a world, made from choices or from events.
 */
#ifndef PROPS_JUDGE_RUN_H
#define PROPS_JUDGE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"
#include "props/cross/cross.h"
#include "props/cross/cross_without.h"
#include "sim/generate/generate.h"
#include "props/judge/judge.h"
#include "props/judge/subject_judge.h"
#include "props/judge/trace_judge.h"

/* What a run has done, in memory shared with a parent process. */
struct props_crash_log {
    uint32_t count;      /* events applied */
    uint32_t attempting; /* 1 while the next event is being applied */
    struct sim_event events[];
};

struct props_run {
    struct props_judge judge; /* judges the profiles; its breach is the run's */
    struct trace_judge trace; /* judges the traces */
    bool has_profiles;        /* the run has profiles */
    bool has_trace;
    struct subject_judge subject; /* judges what a subject shows */
    bool has_subject;
    struct sim_generator generator;
    struct props_crash_log *crash_log;
    struct sim_event *events; /* crash_log->events: what happened, in order */
    uint32_t events_count;
    uint32_t events_max;
    struct sim_world *shadow; /* the same events under the other scheme (H9) */
    struct prof_rules shadow_rules;
    bool shadow_runs;             /* so far both schemes must agree */
    uint32_t shadow_events;       /* how many of the events it has had */
    struct cross cross;           /* compares the instruments (X1 to X5) */
    bool crosses;                 /* there is more than one instrument */
    struct cross_without without; /* the run without one instrument (X6) */
    uint32_t left_out;            /* instruments to be left out, a bit each */
    struct props_coverage cover;
    uint64_t hash; /* of the truth and all answers */
};

/* returns: NULL if there is not enough memory */
struct props_run *props_run_new(const struct sim_limits *limits);
void props_run_delete(struct props_run *run);

/*
 * Generate a world and its events from choices, and judge each.
 *
 * in:      choices, begun
 *          worlds, the kinds of world of which one is drawn (generate.h)
 *          asked, the properties to judge
 * returns: true if none of them was broken; else see run->judge.breach
 */
bool props_run_choices(struct props_run *run, struct sim_choices *choices,
                       const struct prof_rules *rules, uint32_t worlds,
                       props_set requested);

/*
 * Begin a run whose events come from elsewhere.
 *
 * returns: NULL, or why the configuration is wrong
 */
const char *props_run_begin(struct props_run *run,
                            const struct sim_config *config,
                            props_set requested);

/*
 * Apply and judge one event.
 *
 * out:     *refused, NULL or why the event cannot happen now
 * returns: false if it was refused or broke something
 */
bool props_run_event(struct props_run *run, const struct sim_event *event,
                     const char **refused);

/* End a run: L1, L2, its traces and the hash. returns: as props_run_choices()
 */
bool props_run_end(struct props_run *run);

#endif
