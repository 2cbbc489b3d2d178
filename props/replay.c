/* replay.c -- run a scenario and compare it with what it expects. */
#include "replay.h"

#include <stdio.h>
#include <string.h>

#include "run.h"

/* Apply all events; stop at a breach, a refusal or a failed expectation. */
static void
apply_all(struct props_run *run, const struct sim_scenario *scenario,
          struct sim_error *error)
{
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        const char *refused;
        const bool holds = props_run_event(run, &scenario->events[i], &refused);

        if (refused != NULL) {
            snprintf(error->text, sizeof error->text, "%.120s:%u: %s: %.100s",
                     scenario->name, (unsigned)scenario->event_lines[i],
                     sim_event_word(scenario->events[i].kind), refused);
            return;
        }
        if (!sim_scenario_check_answer(
                scenario, i, sim_world_answer(run->judge.world), error) ||
            !holds)
            return;
    }
    props_run_end(run);
}

static void
check_outcome(struct props_replay *replay, const struct sim_scenario *scenario)
{
    const enum props_property got = replay->breach.property;
    enum props_property expected = PROPS_NONE;

    if (scenario->outcome == SIM_OUTCOME_BROKEN)
        expected = props_property_find(scenario->property);
    replay->as_expected = replay->error.text[0] == '\0' && got == expected;
    if (replay->error.text[0] != '\0' || replay->as_expected)
        return;
    if (scenario->outcome == SIM_OUTCOME_BROKEN && expected == PROPS_NONE)
        snprintf(replay->error.text, sizeof replay->error.text,
                 "%.120s:%u: there is no property '%s'", scenario->name,
                 (unsigned)scenario->outcome_line, scenario->property);
    else if (expected != PROPS_NONE)
        snprintf(replay->error.text, sizeof replay->error.text,
                 "%.120s:%u: expected %s to be broken, but %s is",
                 scenario->name, (unsigned)scenario->outcome_line,
                 scenario->property,
                 got == PROPS_NONE ? "nothing" : props_property_id(got));
}

bool
props_replay_run(struct props_replay *replay,
                 const struct sim_scenario *scenario, props_set asked)
{
    const struct sim_limits limits = {
        .events_max = scenario->events_count + 1,
        .objects_max = scenario->objects_count + 1,
        .buckets_max = scenario->config.buckets_max,
        .frames_max = scenario->config.frames_max,
    };
    struct props_run *run = props_run_new(&limits);
    const char *why;

    memset(replay, 0, sizeof *replay);
    replay->breach.property = PROPS_NONE;
    if (run == NULL)
        return false;
    why = props_run_begin(run, &scenario->config, asked);
    if (why == NULL) {
        apply_all(run, scenario, &replay->error);
        replay->breach = run->judge.breach;
    } else {
        snprintf(replay->error.text, sizeof replay->error.text,
                 "%.120s: %.100s", scenario->name, why);
    }
    check_outcome(replay, scenario);
    props_run_delete(run);
    return true;
}
