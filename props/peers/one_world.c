/*
 * one_world.c -- writes random worlds with all instruments as scenarios, for
 * one_world.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "props/judge/run.h"
#include "props/campaign/campaign.h"
#include "sim/scenario/scenario.h"

static const char *
no_name(void *context, uintptr_t frame)
{
    (void)context;
    (void)frame;
    return NULL;
}

/* returns: false, with a line on standard error, if it cannot be written */
static bool
write_scenario(const struct props_run *run, const char *dir, uint64_t seed)
{
    const struct sim_scenario_source source = {
        .config = &run->generator.config,
        .events = run->events,
        .events_count = run->events_count,
        .outcome = SIM_OUTCOME_OK,
        .frame_name = no_name,
    };
    struct sim_error error;
    struct sim_scenario *scenario = sim_scenario_build(&source, &error);
    char path[1024];
    FILE *file = NULL;
    bool written = false;

    snprintf(path, sizeof path, "%s/%07" PRIu64 ".sim", dir, seed);
    if (scenario == NULL)
        fprintf(stderr, "%s: %s\n", path, error.text);
    else
        file = fopen(path, "w");
    if (file != NULL) {
        written = sim_scenario_print(file, scenario);
        written = fclose(file) == 0 && written;
    }
    sim_scenario_free(scenario);
    return written;
}

int
main(int argc, char **argv)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct props_run *run = props_run_new(&sim_generator_limits_all);
    struct sim_choices choices;

    if (argc != 4 || run == NULL) {
        fprintf(stderr, "usage: one_world DIR FIRST LAST\n");
        return 1;
    }
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    for (uint64_t seed = strtoull(argv[2], NULL, 10);
         seed <= strtoull(argv[3], NULL, 10); seed++) {
        sim_choices_random(&choices, seed);
        if (!props_run_choices(run, &choices, &prof_rules_exact,
                               SIM_WORLDS_BOTH, PROPS_ALL)) {
            fprintf(stderr, "seed %" PRIu64 ": %s\n", seed,
                    run->judge.breach.text);
            return 1;
        }
        if (!write_scenario(run, argv[1], seed))
            return 1;
    }
    props_run_delete(run);
    return 0;
}
