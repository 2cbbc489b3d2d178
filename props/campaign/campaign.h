/*
 * campaign.h -- many random runs: a range of seeds, on several processes, with
 * progress, and the lowest failing seed as its result.
 */
#ifndef PROPS_CAMPAIGN_H
#define PROPS_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "choice.h"
#include "mark.h"
#include "property.h"
#include "prof/rules.h"

enum { PROPS_CHOICES_MAX = 8192, PROPS_JOBS_MAX = 64 };

struct props_campaign;
struct props_hunt;

/* What a run has done. */
struct props_ran {
    uint32_t events;
    uint64_t hash;
    struct props_marks *marks; /* of all runs */
    const struct props_breach *breach;
};

/* A kind of world: how its runs are made. */
struct props_kind {
    void *(*begin)(void); /* NULL without memory */
    void (*end)(void *runner);
    bool (*run)(void *runner, struct sim_choices *choices,
                const struct props_campaign *campaign);
    struct props_ran (*ran)(void *runner); /* by the last run */
    /* Shrink a failure's events and write them (hunt.h). false: no memory */
    bool (*tell)(struct props_hunt *hunt);
};

struct props_campaign {
    const struct props_kind *kind; /* NULL: heaps (world.h) */
    const struct prof_rules *rules;
    props_set asked;
    uint64_t seed_first;
    uint64_t seed_last; /* inclusive */
    uint32_t seconds;   /* stop after so long; 0: when the seeds are done */
    uint32_t jobs;      /* processes, 1 .. PROPS_JOBS_MAX */
    bool show_progress; /* on standard error, if that is a terminal */
};

enum props_end {
    PROPS_END_PASSED,
    PROPS_END_BROKEN, /* a property; `seed` shows it */
    PROPS_END_CRASHED /* a run ended its process; `seed` shows it */
};

struct props_outcome {
    enum props_end end;
    uint64_t seed; /* the lowest that failed */
    int signal;    /* PROPS_END_CRASHED: what ended the process, 0: exit */
    uint64_t runs;
    uint64_t events;
    uint64_t hash; /* of all runs; the same whatever the jobs */
    double seconds;
    struct props_marks marks;
};

/*
 * Run a campaign to its end or its first failure. Seeds above a failing one may
 * have been run too; every seed below it has passed.
 *
 * returns: false if the system refused memory or processes
 */
bool props_campaign_run(const struct props_campaign *campaign,
                        struct props_outcome *outcome);

/* returns: the kind of world that it runs */
const struct props_kind *
props_campaign_kind(const struct props_campaign *campaign);

#endif
