/*
 * mutant_trial.c -- which properties catch a library that is wrong.
 *
 * usage: mutant_trial DIR RULES RUNS PROPERTY...
 *
 * It is linked with a mutant in place of an object of the library or of the
 * harness, and says, one fact a line:
 *
 *      first SEED WHAT EVENTS    the first failing seed of a campaign with all
 *                                properties; what names it (a property, or
 *                                `crash`); the events of its scenario, shrunk
 *      alone PROPERTY SEED       the first seed that this property catches when
 *                                it is the only one asked for
 *      missed GOAL               not met in RUNS runs
 *
 * A property named on the command line is asked about for RUNS runs, the others
 * for a twentieth as many. The shrunk scenario is left in DIR. Seeds count from
 * 1, so a seed is the number of runs to detection.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "failure.h"
#include "generate.h"

/* First letters of the properties that campaigns judge. */
#define OF_CAMPAIGNS "BCDHLTX"

/* Where the properties mean something. */
static uint32_t
worlds_of(props_set asked)
{
    if ((asked & ~PROPS_ACROSS) == 0)
        return SIM_WORLDS_BOTH;
    if (asked == PROPS_OF_TRACES)
        return SIM_WORLDS_TRACED | SIM_WORLDS_BOTH;
    return (asked & ~PROPS_OF_TRACES) == 0 ? SIM_WORLDS_TRACED
                                           : SIM_WORLDS_HEAPS;
}

static struct props_campaign
campaign_of(const struct prof_rules *rules, props_set asked, uint64_t runs)
{
    return (struct props_campaign){
        .worlds = worlds_of(asked),
        .rules = rules,
        .asked = asked,
        .seed_first = 1,
        .seed_last = runs,
        .jobs = 1,
    };
}

static bool
tell_failure(const struct props_campaign *campaign, uint64_t seed,
             const char *dir)
{
    struct props_failure failure;
    struct sim_error error;
    char path[1024];

    if (!props_failure_of_seed(&failure, campaign, seed, "a mutant's trial"))
        return false;
    printf("first %" PRIu64 " %s %" PRIu32 "\n", seed,
           failure.crashed ? "crash"
                           : props_property_id(failure.breach.property),
           failure.events_after);
    if (!props_failure_save(&failure, dir, "shrunk", path, sizeof path, &error))
        fprintf(stderr, "mutant_trial: %s\n", error.text);
    props_failure_free(&failure);
    return true;
}

static void
tell_missed(const struct props_coverage *cover, int first, int limit)
{
    for (int i = first; i < limit; i++) {
        if (cover->hits[i] == 0)
            printf("missed %s\n", props_cover_id((enum props_cover)i));
    }
}

/* The same campaign on traced worlds. */
static bool
try_all_traced(const char *dir, const struct prof_rules *rules, uint64_t runs)
{
    const struct props_campaign campaign =
        campaign_of(rules, PROPS_OF_TRACES, runs);
    struct props_outcome outcome;

    if (!props_campaign_run(&campaign, &outcome))
        return false;
    if (outcome.end != PROPS_END_PASSED)
        return tell_failure(&campaign, outcome.seed, dir);
    tell_missed(&outcome.cover, COVER_OF_HEAPS, COVER_OF_LIBRARY);
    return true;
}

static bool
try_all(const char *dir, const struct prof_rules *rules, uint64_t runs)
{
    const struct props_campaign campaign = campaign_of(rules, PROPS_ALL, runs);
    struct props_outcome outcome;

    if (!props_campaign_run(&campaign, &outcome))
        return false;
    if (outcome.end != PROPS_END_PASSED)
        return tell_failure(&campaign, outcome.seed, dir);
    tell_missed(&outcome.cover, 0, COVER_OF_HEAPS);
    return try_all_traced(dir, rules, runs);
}

static bool
try_alone(enum props_property property, const struct prof_rules *rules,
          uint64_t runs)
{
    const struct props_campaign campaign =
        campaign_of(rules, PROPS_BIT(property), runs);
    struct props_outcome outcome;

    if (!props_campaign_run(&campaign, &outcome))
        return false;
    if (outcome.end == PROPS_END_BROKEN)
        printf("alone %s %" PRIu64 "\n", props_property_id(property),
               outcome.seed);
    return true;
}

static bool
is_named(const char *id, int argc, char **argv)
{
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], id) == 0)
            return true;
    }
    return false;
}

int
main(int argc, char **argv)
{
    const struct prof_rules *rules = argc < 4 ? NULL : prof_rules_find(argv[2]);
    const uint64_t runs = argc < 4 ? 0 : strtoull(argv[3], NULL, 10);
    const uint64_t runs_of_others = runs / 20;
    bool done;

    if (rules == NULL || runs < 20) {
        fprintf(stderr, "usage: mutant_trial DIR RULES RUNS PROPERTY...\n");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    done = try_all(argv[1], rules, runs);
    for (int i = 0; i < PROPS_COUNT && done; i++) {
        const enum props_property property = (enum props_property)i;
        const char *id = props_property_id(property);
        const bool named = is_named(id, argc, argv);

        if (named || strchr(OF_CAMPAIGNS, id[0]) != NULL)
            done = try_alone(property, rules, named ? runs : runs_of_others);
    }
    if (!done)
        fprintf(stderr, "mutant_trial: not enough memory or processes\n");
    return done ? 0 : 1;
}
