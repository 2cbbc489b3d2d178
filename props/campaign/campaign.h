/*
 * campaign.h -- many random runs: the seeds of a range, on several processes.
 * The result is the lowest failing seed.
 */
#ifndef PROPS_CAMPAIGN_CAMPAIGN_H
#define PROPS_CAMPAIGN_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"
#include "props/cover.h"
#include "props/pairs.h"
#include "props/property.h"
#include "prof/rules.h"

enum { PROPS_CHOICES_MAX = 8192, PROPS_JOBS_MAX = 64 };

enum { PROPS_SUBJECT_SECONDS = 10 }; /* of a run of a subject */

struct props_campaign {
    uint32_t worlds; /* one is chosen; 0: heaps */
    const struct prof_rules *rules;
    const struct subject *subject; /* for SIM_WORLDS_SUBJECT; else NULL */
    props_set requested;
    uint64_t seed_first;
    uint64_t seed_last; /* inclusive */
    uint64_t seed_step; /* from one seed to the next; 0: 1 */
    uint32_t seconds;   /* stop after this time; 0: when the seeds are done */
    uint32_t jobs;      /* processes, 1 .. PROPS_JOBS_MAX */
    bool show_progress; /* on standard error (progress_line.h) */
};

enum props_end {
    PROPS_END_PASSED,
    PROPS_END_BROKEN, /* a property; `seed` shows it */
    PROPS_END_CRASHED /* a run ended its process; `seed` shows it */
};

struct props_run;

struct props_outcome {
    enum props_end end;
    uint64_t seed; /* the lowest that failed */
    int signal;    /* PROPS_END_CRASHED: the signal; 0: it exited */
    bool differed; /* BROKEN: only its two runs differ */
    uint64_t runs;
    uint64_t events;
    uint64_t hash; /* of all runs; does not depend on the number of jobs */
    double seconds;
    struct props_coverage cover;
    struct props_pairs pairs; /* of goals met in one run */
};

/*
 * Run a campaign to its end or its first failure. Every seed below the failing
 * one has passed; some above it may have been run too.
 *
 * returns: false if the system refused memory or processes
 */
bool props_campaign_run(const struct props_campaign *campaign,
                        struct props_outcome *outcome);

/* returns: the kinds of world of which each run chooses one */
uint32_t props_campaign_worlds(const struct props_campaign *campaign);

/* Make a run for the campaign's seeds. returns: NULL without enough memory */
struct props_run *props_campaign_runner(const struct props_campaign *campaign);

/* Make one run of the campaign. returns: as props_run_choices() */
bool props_campaign_try(const struct props_campaign *campaign,
                        struct props_run *run, struct sim_choices *choices);

#endif
