/*
 * worlds.c -- random worlds against a library that has one mutant.
 *
 * usage: mutate_worlds heaps|traces RUNS
 *
 * As a campaign of `profsim check`, in one process. Exit 1 if a run broke
 * something, after a line: the property it is named by, and the seed. Seeds
 * count from 1: a seed is the number of runs.
 * What ends the process leaves the seed in mutant_runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/switch.h"
#include "campaign.h"
#include "judge.h"
#include "sched_campaign.h"

/* Each 64th seed twice, as a campaign does (D1). */
static bool
run_seed(const struct props_campaign *campaign, void *runner,
         struct sim_choices *choices, uint64_t seed)
{
    const struct props_kind *kind = props_campaign_kind(campaign);
    bool passed;
    uint64_t hash;

    sim_choices_random(choices, seed);
    passed = kind->run(runner, choices, campaign);
    if (passed && seed % 64 == 0) {
        hash = kind->ran(runner).hash;
        sim_choices_random(choices, seed);
        passed = kind->run(runner, choices, campaign);
        if (passed && kind->ran(runner).hash != hash) {
            printf("D1 %" PRIu64 "\n", seed);
            return false;
        }
    }
    if (!passed)
        printf("%s %" PRIu64 "\n",
               props_property_id(kind->ran(runner).breach->property), seed);
    return passed;
}

int
main(int argc, char **argv)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct sim_choices choices;
    struct props_campaign campaign = {.rules = &prof_rules_exact,
                                      .asked = PROPS_ALL};
    void *runner;

    if (argc != 3) {
        fputs("usage: mutate_worlds heaps|traces RUNS\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "heaps") != 0) {
        campaign.kind = &props_traced;
        campaign.asked = PROPS_OF_TRACES;
    }
    runner = props_campaign_kind(&campaign)->begin();
    if (runner == NULL)
        return 2;
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    for (uint64_t seed = 1; seed <= strtoull(argv[2], NULL, 10); seed++) {
        *mutant_runs = (uint32_t)seed;
        if (!run_seed(&campaign, runner, &choices, seed))
            return 1;
    }
    return 0;
}
