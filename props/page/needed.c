/* needed.c -- see needed.h. */
#include "props/page/needed.h"

struct props_breach
cli_needed_try(struct props_run *run, const struct sim_scenario *scenario,
               props_set requested, uint32_t left_out)
{
    const struct props_breach none = {.property = PROPS_NONE};
    const char *refused;

    if (props_run_begin(run, &scenario->config, requested) != NULL)
        return none;
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        if (i == left_out)
            continue;
        if (!props_run_event(run, &scenario->events[i], &refused)) {
            if (refused != NULL)
                return none;
            return run->judge.breach;
        }
    }
    props_run_end(run);
    return run->judge.breach;
}

bool
cli_needed_find(struct props_run *run, const struct sim_scenario *scenario,
                props_set requested, enum props_property property, bool *needed)
{
    if (scenario->events_count > CLI_NEEDED_EVENTS_MAX)
        return false;
    for (uint32_t i = 0; i < scenario->events_count; i++)
        needed[i] =
            cli_needed_try(run, scenario, requested, i).property != property;
    return true;
}
