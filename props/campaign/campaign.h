/*
 * campaign.h -- many random runs: the seeds of a range, on several processes.
 * The result is the lowest failing seed.
 */
#ifndef PROPS_CAMPAIGN_H
#define PROPS_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "choice.h"
#include "cover.h"
#include "pairs.h"
#include "property.h"
#include "prof/rules.h"

enum { PROPS_CHOICES_MAX = 8192, PROPS_JOBS_MAX = 64 };

enum { PROPS_SUBJECT_SECONDS = 10 }; /* a run of a subject, else it hangs */

struct props_campaign {
    uint32_t worlds; /* of which each run draws one; 0: heaps (generate.h) */
    const struct prof_rules *rules;
    const struct subject *subject; /* of SIM_WORLDS_SUBJECT; else NULL */
    props_set asked;
    uint64_t seed_first;
    uint64_t seed_last; /* inclusive */
    uint64_t seed_step; /* from one seed to the next; 0: 1 */
    uint32_t seconds;   /* stop after so long; 0: when the seeds are done */
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
    int signal;    /* PROPS_END_CRASHED: what ended the process, 0: exit */
    bool differed; /* PROPS_END_BROKEN: two runs of the seed did not do the
                      same, and neither broke a property */
    uint64_t runs;
    uint64_t events;
    uint64_t hash; /* of all runs; the same whatever the jobs */
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

/* returns: the kinds of world of which each run draws one */
uint32_t props_campaign_worlds(const struct props_campaign *campaign);

/* Make what runs the campaign's seeds. returns: NULL without enough memory */
struct props_run *props_campaign_runner(const struct props_campaign *campaign);

/* Make one run of the campaign. returns: as props_run_choices() */
bool props_campaign_try(const struct props_campaign *campaign,
                        struct props_run *run, struct sim_choices *choices);

#endif
