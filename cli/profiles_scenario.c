/*
 * profiles_scenario.c -- the profiles of a scenario, as they are after its last
 * event.
 *
 * The scenario is run a second time, here, without a judge: the first run told
 * whether it can be, and ran where a crash harms nobody.
 */
#include <stdio.h>
#include <stdlib.h>

#include "profiles.h"
#include "scenario.h"

/* A tick of a world is a nanosecond. */
enum { TICKS_PER_SECOND = 1000000000 };

static void
find_frame(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const struct sim_scenario *scenario = context;
    const char *name = sim_scenario_frame_name(scenario, pc);

    if (name == NULL)
        return;
    symbol->function = name;
    symbol->file = scenario->name;
    symbol->kind = prof_frame_kind_go(name);
}

static bool
complain(const char *folder, const char *why)
{
    fprintf(stderr, "profsim: %s: %s\n", folder, why);
    return false;
}

/* Up to the first event that cannot happen: the judge has complained of it. */
static bool
run_events(struct sim_world *world, const struct sim_scenario *scenario)
{
    if (sim_world_reset(world, &scenario->config) != NULL)
        return false;
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        if (sim_world_apply(world, &scenario->events[i]) != NULL)
            break;
    }
    return true;
}

static bool
write_world(struct cli_profiles *profiles, struct prof_heap_record *records,
            size_t records_max)
{
    size_t count;

    if (prof_heap_snapshot(profiles->prof, PROF_SELECT_ALL, records,
                           records_max, &count) != PROF_OK)
        return complain(profiles->folder, "the snapshot does not fit");
    profiles->heap = records;
    profiles->heap_count = count;
    return cli_profiles_write(profiles);
}

bool
cli_profiles_write_scenario(const char *folder, struct sim_scenario *scenario)
{
    const struct sim_limits limits = {
        .events_max = scenario->events_count + 1,
        .objects_max = scenario->objects_count + 1,
        .buckets_max = scenario->config.buckets_max,
        .frames_max = scenario->config.frames_max,
    };
    const size_t records_max = (size_t)scenario->config.buckets_max + 1;
    struct prof_heap_record *records = calloc(records_max, sizeof *records);
    struct sim_world *world = sim_world_new(&limits);
    struct cli_profiles profiles = {
        .folder = folder,
        .symbols = {.find = find_frame, .context = scenario},
        .rules = scenario->config.rules,
        .ticks_per_second = TICKS_PER_SECOND,
    };
    bool good = false;

    if (world == NULL || records == NULL) {
        complain(folder, "not enough memory");
        goto out;
    }
    if (!run_events(world, scenario)) {
        complain(folder, "the scenario cannot be run");
        goto out;
    }
    profiles.prof = sim_world_prof(world);
    profiles.rate_bytes = prof_heap_rate(profiles.prof);
    good = write_world(&profiles, records, records_max);
out:
    sim_world_delete(world);
    free(records);
    return good;
}
