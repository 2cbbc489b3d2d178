/*
 * worlds.c -- random worlds against a library that has one mutant.
 *
 * usage: mutate_worlds heaps|traces RUNS
 *
 * As a campaign of `profsim check`, in one process. Exit 1 if a run broke
 * something, after a line: the property it is named by, the seed, and then all
 * properties that it broke. Seeds count from 1: a seed is the number of runs.
 * What ends the process leaves the seed in mutant_runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate/switch.h"
#include "campaign.h"
#include "run.h"
#include "sched_run.h"

struct judged {
    const struct props_breach *breach;
    uint64_t hash;
    bool passed;
};

struct judge {
    struct props_run *heaps; /* or NULL */
    struct sched_run *traces;
};

static struct judged
run_once(struct judge *judge, struct sim_choices *choices, uint64_t seed)
{
    struct judged judged;

    sim_choices_random(choices, seed);
    if (judge->heaps != NULL) {
        judged.passed = props_run_choices(judge->heaps, choices,
                                          &prof_rules_exact, PROPS_ALL);
        judged.breach = &judge->heaps->judge.breach;
        judged.hash = judge->heaps->hash;
    } else {
        judged.passed =
            sched_run_choices(judge->traces, choices, PROPS_OF_TRACES);
        judged.breach = &judge->traces->judge.breach;
        judged.hash = judge->traces->hash;
    }
    return judged;
}

static void
tell(const struct props_breach *breach, uint64_t seed)
{
    printf("%s %" PRIu64, props_property_id(breach->property), seed);
    for (int i = 0; i < PROPS_COUNT; i++) {
        if ((breach->broken & PROPS_BIT(i)) != 0)
            printf(" %s", props_property_id((enum props_property)i));
    }
    printf("\n");
}

/* Each 64th seed twice, as a campaign does (D1). */
static bool
run_seed(struct judge *judge, struct sim_choices *choices, uint64_t seed)
{
    struct judged judged = run_once(judge, choices, seed);

    if (judged.passed && seed % 64 == 0) {
        const uint64_t hash = judged.hash;

        judged = run_once(judge, choices, seed);
        if (judged.passed && judged.hash != hash) {
            printf("D1 %" PRIu64 " D1\n", seed);
            return false;
        }
    }
    if (!judged.passed)
        tell(judged.breach, seed);
    return judged.passed;
}

int
main(int argc, char **argv)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct sim_choices choices;
    struct judge judge = {0};

    if (argc != 3) {
        fputs("usage: mutate_worlds heaps|traces RUNS\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "heaps") == 0)
        judge.heaps = props_run_new(&sim_generator_limits);
    else
        judge.traces = sched_run_new(SIM_SCHED_EVENTS_MAX);
    if (judge.heaps == NULL && judge.traces == NULL)
        return 2;
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    for (uint64_t seed = 1; seed <= strtoull(argv[2], NULL, 10); seed++) {
        *mutant_runs = (uint32_t)seed;
        if (!run_seed(&judge, &choices, seed))
            return 1;
    }
    return 0;
}
