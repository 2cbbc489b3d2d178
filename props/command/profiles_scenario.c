/*
 * profiles_scenario.c -- the profiles of a scenario, as they are after its last
 * event, and its traces, read to their end.
 *
 * The scenario runs a second time here, without a judge. Its first run, in a
 * separate process, has shown that it does not crash.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "sim/instruments/instrument_debug.h"
#include "sim/instruments/instrument_trace.h"
#include "common/profiles.h"
#include "props/command/profiles_scenario.h"
#include "common/command/saved_file.h"
#include "sim/scenario/scenario.h"
#include "props/judge/trace_judge.h"

/* A tick is a nanosecond unless the scenario says otherwise. */
enum { TICKS_PER_SECOND = 1000000000 };

static uint64_t
ticks_per_second(const struct sim_scenario *scenario)
{
    return scenario->config.scheduled
               ? scenario->config.trace.ticks_per_us * 1000000
               : (uint64_t)TICKS_PER_SECOND;
}

/* Name a task's first function, which has no name in the scenario. The only pc
 * inside that function is its entry + 1, the return address of a task that has
 * not run yet. */
static const char *
name_of_task(uintptr_t pc, struct prof_symbol *symbol)
{
    static char names[2][SIM_SCHEDULED_MAX + 1][16];
    const bool is_system = SIM_IS_SYSTEM_PC(pc);

    for (uint32_t id = 1; id <= SIM_SCHEDULED_MAX; id++) {
        const uint64_t entry = is_system ? SIM_SYSTEM_PC(id) : SIM_TASK_PC(id);

        if (pc != entry + 1)
            continue;
        symbol->entry = (uintptr_t)entry;
        snprintf(names[is_system][id], sizeof names[is_system][id],
                 "%s.t%" PRIu32, is_system ? "runtime" : "main", id);
        return names[is_system][id];
    }
    return NULL;
}

static void
find_frame(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const struct sim_scenario *scenario = context;
    const char *name = sim_scenario_frame_name(scenario, pc);

    if (name == NULL && scenario->config.scheduled)
        name = name_of_task(pc, symbol);
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

/*
 * Run the events up to the first impossible one, which the judge has already
 * reported.
 *
 * in:      world, NULL if there was not enough memory for one; symbols, which
 *          name the frames in the lines of allocations; NULL: no such lines
 * returns: NULL, or why the scenario cannot be run
 */
static const char *
run_events(struct sim_world *world, const struct sim_scenario *scenario,
           const struct prof_symbols *symbols)
{
    char pending[256];
    const char *why = world == NULL ? "not enough memory"
                                    : sim_world_reset(world, &scenario->config);

    if (why != NULL)
        return why;
    if (symbols != NULL)
        sim_debug_name(world, symbols);
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        if (sim_world_apply(world, &scenario->events[i]) != NULL)
            break;
    }
    if (sim_world_carries(world, SIM_TRACER))
        trace_judge_quiet(world, pending, sizeof pending);
    return NULL;
}

/* Read the profiles, and write them. in: records_max, room of each */
static bool
write_world(struct cli_profiles *profiles, struct prof *prof,
            struct prof_heap_record *heap,
            struct prof_contention_record *const waits[2], size_t records_max)
{
    bool good = prof_heap_snapshot(prof, PROF_SELECT_ALL, heap, records_max,
                                   &profiles->heap_count) == PROF_OK;

    profiles->heaps[CLI_PROFILES_RUN] = heap;
    for (int i = 0; i < 2; i++) {
        good = good && prof_contention_snapshot(
                           prof, (enum prof_contention)i, waits[i], records_max,
                           &profiles->contention_count[i]) == PROF_OK;
        profiles->contention[i] = waits[i];
    }
    return good ? cli_profiles_write(profiles)
                : complain(profiles->folder, "the snapshot does not fit");
}

static bool
write_profiles(const char *folder, const char *path,
               struct sim_scenario *scenario, struct prof *prof)
{
    const size_t records_max = scenario->config.buckets_max;
    struct prof_heap_record *heap = cli_need(calloc(records_max, sizeof *heap));
    struct prof_contention_record *const waits[] = {
        cli_need(calloc(records_max, sizeof *waits[0])),
        cli_need(calloc(records_max, sizeof *waits[0]))};
    struct cli_profiles profiles = {
        .folder = folder,
        .input = path,
        .symbols = {.find = find_frame, .context = scenario},
        .rules = scenario->config.rules,
        .ticks_per_second = ticks_per_second(scenario),
        .rate_bytes = prof_heap_rate(prof),
        .mutex_period = prof_mutex_period(prof),
    };
    const bool good = write_world(&profiles, prof, heap, waits, records_max);

    free(heap);
    free(waits[0]);
    free(waits[1]);
    return good;
}

/* ---- the traces ---- */

static bool
write_traces(const char *folder, const char *input,
             const struct sim_world *world)
{
    uint32_t written = 0;

    if (!cli_save_folder(folder))
        return false;
    for (uint32_t i = 0; i < sim_sessions(world); i++) {
        const struct sim_session *session = sim_session(world, i);
        const struct cli_bytes bytes = {session->bytes, session->bytes_count};
        char name[32] = "trace.out";

        if (!session->has_ended)
            continue;
        if (++written > 1)
            snprintf(name, sizeof name, "trace-%" PRIu32 ".out", written);
        if (!cli_save(folder, name, input, cli_save_bytes, &bytes))
            return false;
    }
    return true;
}

/* Let the run keep lists of tasks and threads, even if the scenario does not
 * ask for them. */
static void
carry_lists(struct sim_scenario *scenario)
{
    if (scenario->config.scheduled)
        scenario->config.instruments |=
            SIM_INSTRUMENT_BIT(SIM_TASKS) | SIM_INSTRUMENT_BIT(SIM_THREADS);
}

static bool
write_all(const char *folder, const char *path, struct sim_scenario *scenario,
          struct sim_world *world)
{
    const struct prof_symbols symbols = {.find = find_frame,
                                         .context = scenario};

    return (sim_world_prof(world) == NULL ||
            write_profiles(folder, path, scenario, sim_world_prof(world))) &&
           (!sim_world_carries(world, SIM_TRACER) ||
            write_traces(folder, path, world)) &&
           (!scenario->config.scheduled ||
            cli_profiles_write_tasks(folder, path, world, &symbols));
}

bool
cli_profiles_print_allocations(const char *path, struct sim_scenario *scenario)
{
    const struct prof_symbols symbols = {.find = find_frame,
                                         .context = scenario};
    struct sim_debug_text text;
    struct sim_limits limits;
    struct sim_world *world;
    const char *why;

    scenario->config.instruments |= SIM_INSTRUMENT_BIT(SIM_DEBUG_LINES);
    limits = sim_scenario_limits(scenario);
    world = sim_world_new(&limits);
    why = run_events(world, scenario, &symbols);
    if (why == NULL) {
        text = sim_debug_text(world);
        (void)fwrite(text.bytes, 1, text.bytes_count, stdout);
    } else {
        complain(path, why);
    }
    sim_world_delete(world);
    return why == NULL;
}

bool
cli_profiles_write_scenario(const char *folder, const char *path,
                            struct sim_scenario *scenario)
{
    struct sim_limits limits;
    struct sim_world *world;
    const char *why;
    bool good;

    carry_lists(scenario);
    limits = sim_scenario_limits(scenario);
    world = sim_world_new(&limits);
    why = run_events(world, scenario, NULL);
    good = why == NULL ? write_all(folder, path, scenario, world)
                       : complain(folder, why);
    sim_world_delete(world);
    return good;
}
