/*
 * fuzz_worlds.c -- the bytes are the choices of a random world: its kind, which
 * task acts next, what the task does. A finding is shrunk, printed and saved as
 * a scenario, even if it is a crash, because each attempt forks.
 *
 * PROFSIM_RULES names the rules that the library follows (exact).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "props/campaign/failure.h"
#include "props/fuzz/fuzz.h"
#include "props/judge/run.h"

static struct props_run *run;
static struct sim_choice list[PROPS_CHOICES_MAX];
static struct props_campaign campaign = {.requested = PROPS_ALL};

static void
begin(void)
{
    const char *rules = getenv("PROFSIM_RULES");

    campaign.rules = prof_rules_find(rules != NULL ? rules : "exact");
    run = props_run_new(&sim_generator_limits);
    if (run == NULL || campaign.rules == NULL) {
        fprintf(stderr, "fuzz: no memory, or no rules '%s'\n", rules);
        exit(1);
    }
}

/* Shrink what the bytes show, which may also be no failure. */
static void
report(const uint8_t *bytes, uint32_t bytes_count)
{
    struct props_failure failure;
    struct sim_error error;
    char name[64];
    char path[256];

    if (!props_failure_of_bytes(&failure, &campaign, bytes, bytes_count,
                                "fuzz_worlds")) {
        fprintf(stderr, "fuzz: no memory\n");
        abort();
    }
    snprintf(name, sizeof name, "fuzz-%s-%s",
             failure.crashed ? "crash"
                             : props_property_id(failure.breach.property),
             campaign.rules->name);
    props_failure_print(stderr, &failure);
    if (props_failure_save(&failure, "profsim-failures", name, path,
                           sizeof path, &error))
        fprintf(stderr, "replay: profsim replay %s\n", path);
    else
        fprintf(stderr, "fuzz: %s\n", error.text);
    abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count)
{
    struct sim_choices choices;

    if (run == NULL)
        begin();
    if (fuzz_reports())
        report(bytes, (uint32_t)bytes_count);
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    sim_choices_bytes(&choices, bytes, (uint32_t)bytes_count);
    if (props_campaign_try(&campaign, run, &choices))
        return 0;
    fprintf(stderr, "%s broken: %s\n",
            props_property_id(run->judge.breach.property),
            run->judge.breach.text);
    abort();
}
