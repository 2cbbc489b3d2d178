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
#include "escape.h"
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
    sim_escape_line(stderr, "profsim: %s: %s", folder, why);
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

/* returns: NULL if it cannot be read */
static struct prof_contention_record *
read_contention(struct prof *prof, enum prof_contention kind, size_t *count)
{
    struct prof_contention_record *records = NULL;
    enum prof_status status =
        prof_contention_snapshot(prof, kind, NULL, 0, count);

    if (status == PROF_OK || status == PROF_ERR_SHORT)
        records = calloc(*count + 1, sizeof *records);
    if (records == NULL ||
        prof_contention_snapshot(prof, kind, records, *count, count) == PROF_OK)
        return records;
    free(records);
    return NULL;
}

static bool
write_world(struct cli_profiles *profiles, struct prof *prof,
            struct prof_heap_record *records, size_t records_max)
{
    struct prof_contention_record *contention[2];
    bool good;

    if (prof_heap_snapshot(prof, PROF_SELECT_ALL, records, records_max,
                           &profiles->heap_count) != PROF_OK)
        return complain(profiles->folder, "the snapshot does not fit");
    profiles->heaps[CLI_PROFILES_RUN] = records;
    for (int i = 0; i < 2; i++) {
        contention[i] = read_contention(prof, (enum prof_contention)i,
                                        &profiles->contention_count[i]);
        profiles->contention[i] = contention[i];
    }
    good = contention[0] != NULL && contention[1] != NULL
               ? cli_profiles_write(profiles)
               : complain(profiles->folder, "not enough memory");
    free(contention[0]);
    free(contention[1]);
    return good;
}

bool
cli_profiles_write_scenario(const char *folder, const char *path,
                            struct sim_scenario *scenario)
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
        .input = path,
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
    profiles.rate_bytes = prof_heap_rate(sim_world_prof(world));
    profiles.mutex_period = prof_mutex_period(sim_world_prof(world));
    good = write_world(&profiles, sim_world_prof(world), records, records_max);
out:
    sim_world_delete(world);
    free(records);
    return good;
}
