/*
 * worlds.c -- judge a library with one mutant by random worlds.
 *
 * usage: mutate_worlds heaps|traces RUNS [RULES]
 *
 * Like a campaign of `profsim check`, in one process. If a run breaks a
 * property, the program prints the property and the seed, and exits with 1.
 * Seeds count from 1, so a seed is the number of runs. If a run crashes, the
 * seed is in mutant_runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/switch.h"
#include "campaign.h"
#include "judge.h"
#include "run.h"

/* Run a seed; every 64th seed is run twice, as in a campaign (D1). */
static bool
run_seed(const struct props_campaign *campaign, struct props_run *run,
         struct sim_choices *choices, uint64_t seed)
{
    bool passed;
    uint64_t hash;

    sim_choices_random(choices, seed);
    passed = props_campaign_try(campaign, run, choices);
    if (passed && seed % 64 == 0) {
        hash = run->hash;
        sim_choices_random(choices, seed);
        passed = props_campaign_try(campaign, run, choices);
        if (passed && run->hash != hash) {
            printf("D1 %" PRIu64 "\n", seed);
            return false;
        }
    }
    if (!passed)
        printf("%s %" PRIu64 "\n",
               props_property_id(run->judge.breach.property), seed);
    return passed;
}

int
main(int argc, char **argv)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct sim_choices choices;
    struct props_campaign campaign = {.rules = &prof_rules_exact,
                                      .asked = PROPS_ALL};
    struct props_run *run;

    if (argc == 4)
        campaign.rules = prof_rules_find(argv[3]);
    if (argc < 3 || argc > 4 || campaign.rules == NULL) {
        fputs("usage: mutate_worlds heaps|traces RUNS [RULES]\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "heaps") != 0) {
        campaign.worlds = SIM_WORLDS_TRACED;
        campaign.asked = PROPS_OF_TRACES;
    }
    run = props_campaign_runner(&campaign);
    if (run == NULL)
        return 2;
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    for (uint64_t seed = 1; seed <= strtoull(argv[2], NULL, 10); seed++) {
        *mutant_runs = (uint32_t)seed;
        if (!run_seed(&campaign, run, &choices, seed))
            return 1;
    }
    return 0;
}
