/*
 * mutant_trial.c -- which properties catch a mutant.
 *
 * usage: mutant_trial matrix|named DIR RULES RUNS WORD...
 *
 * This program is linked with a mutant in place of an object of the library or
 * of the harness. It prints, one fact a line:
 *
 *      first SEED WHAT EVENTS    the first failing seed of a campaign with all
 *                                properties; the property that names the
 *                                failure, or `crash`; how many events the
 *                                shrunk scenario has
 *      alone PROPERTY SEED       the first seed that this property catches when
 *                                only it is judged
 *      missed GOAL               the coverage goal was not reached in RUNS runs
 *
 * A WORD is a property, cover:GOAL, or a verdict of all properties together
 * (`crash`, `nobody`). Each property that a WORD names is judged alone for RUNS
 * runs. `matrix` also judges each of the others alone, for RUNS / 20 runs;
 * `named` does not. The shrunk scenario is left in DIR. Seeds count from 1, so
 * a failing seed is the number of runs to detection.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "failure.h"
#include "generate.h"

/* In which kinds of world all properties are tried together. */
struct asked {
    bool heaps;
    bool traces;
};

/* The first letters of properties that campaigns judge. */
#define OF_CAMPAIGNS "BCDHLTX"

/* The kinds of world in which the properties are judged. */
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

/* Try all properties of the worlds; then print the goals, from `first` on, that
 * were missed. */
static bool
try_worlds(const char *dir, const struct props_campaign *campaign, int first,
           int limit, bool *failed)
{
    struct props_outcome outcome;

    if (!props_campaign_run(campaign, &outcome))
        return false;
    *failed = outcome.end != PROPS_END_PASSED;
    if (*failed)
        return tell_failure(campaign, outcome.seed, dir);
    tell_missed(&outcome.cover, first, limit);
    return true;
}

/* Try worlds with a heap and, if all properties hold, traced ones. */
static bool
try_all(const char *dir, const struct prof_rules *rules, uint64_t runs,
        struct asked asked)
{
    const struct props_campaign heaps = campaign_of(rules, PROPS_ALL, runs);
    const struct props_campaign traces =
        campaign_of(rules, PROPS_OF_TRACES, runs);
    bool failed = false;

    return (!asked.heaps ||
            try_worlds(dir, &heaps, 0, COVER_OF_HEAPS, &failed)) &&
           (!asked.traces || failed ||
            try_worlds(dir, &traces, COVER_OF_HEAPS, COVER_OF_LIBRARY,
                       &failed));
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
is_named(const char *id, int count, char **words)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], id) == 0)
            return true;
    }
    return false;
}

static bool
is_property(const char *word)
{
    for (int i = 0; i < PROPS_COUNT; i++) {
        if (strcmp(word, props_property_id((enum props_property)i)) == 0)
            return true;
    }
    return false;
}

static bool
is_goal_of_heaps(const char *word)
{
    for (int i = 0; i < COVER_OF_HEAPS; i++) {
        if (strcmp(word, props_cover_id((enum props_cover)i)) == 0)
            return true;
    }
    return false;
}

/* Find in which kinds of world the words require all properties together. */
static struct asked
asked_by(int count, char **words)
{
    struct asked asked = {false, false};

    for (int i = 0; i < count; i++) {
        const bool is_goal = strncmp(words[i], "cover:", 6) == 0;
        const bool of_heaps = is_goal && is_goal_of_heaps(words[i] + 6);

        if (is_property(words[i]))
            continue;
        asked.heaps |= !is_goal || of_heaps;
        asked.traces |= !of_heaps;
    }
    return asked;
}

static bool
try_each(const struct prof_rules *rules, uint64_t runs, bool all, int count,
         char **words)
{
    bool done = true;

    for (int i = 0; i < PROPS_COUNT && done; i++) {
        const enum props_property property = (enum props_property)i;
        const char *id = props_property_id(property);

        if (is_named(id, count, words))
            done = try_alone(property, rules, runs);
        else if (all && strchr(OF_CAMPAIGNS, id[0]) != NULL)
            done = try_alone(property, rules, runs / 20);
    }
    return done;
}

int
main(int argc, char **argv)
{
    const bool all = argc > 1 && strcmp(argv[1], "matrix") == 0;
    const struct prof_rules *rules = argc < 5 ? NULL : prof_rules_find(argv[3]);
    const uint64_t runs = argc < 5 ? 0 : strtoull(argv[4], NULL, 10);
    struct asked asked = {true, true};
    bool done;

    if (rules == NULL || runs < 20 || (!all && strcmp(argv[1], "named") != 0)) {
        fprintf(stderr,
                "usage: mutant_trial matrix|named DIR RULES RUNS WORD...\n");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!all)
        asked = asked_by(argc - 5, argv + 5);
    done = try_all(argv[2], rules, runs, asked) &&
           try_each(rules, runs, all, argc - 5, argv + 5);
    if (!done)
        fprintf(stderr, "mutant_trial: not enough memory or processes\n");
    return done ? 0 : 1;
}
