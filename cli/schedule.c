/* schedule.c -- `profsim run`, `replay` and `check` of traced worlds. */
#include "schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sched_campaign.h"
#include "sched_failure.h"
#include "sched_run.h"
#include "sched_text.h"

static bool
write_whole(const char *path, const struct sim_sched_session *session)
{
    char temporary[1100];
    bool written = false;
    FILE *file;

    snprintf(temporary, sizeof temporary, "%.1024s.part", path);
    file = fopen(temporary, "wb");
    if (file != NULL) {
        written = fwrite(session->bytes, 1, session->bytes_count, file) ==
                      session->bytes_count &&
                  fflush(file) == 0 && fsync(fileno(file)) == 0;
        written &= fclose(file) == 0;
    }
    if (written && rename(temporary, path) == 0)
        return true;
    cli_usage("%s: %s", path, strerror(errno));
    unlink(temporary);
    return false;
}

static bool
write_traces(const struct sim_sched_world *world, const char *folder)
{
    char path[1024];
    uint32_t written = 0;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cli_usage("%s: %s", folder, strerror(errno));
        return false;
    }
    for (uint32_t i = 0; i < sim_sched_world_sessions(world); i++) {
        const struct sim_sched_session *session =
            sim_sched_world_session(world, i);

        if (!session->has_ended)
            continue;
        if (++written == 1)
            snprintf(path, sizeof path, "%.900s/trace.out", folder);
        else
            snprintf(path, sizeof path, "%.900s/trace-%" PRIu32 ".out", folder,
                     written);
        if (!write_whole(path, session))
            return false;
    }
    return true;
}

static enum cli_exit
tell_verdict(const char *path, const struct sim_schedule *schedule,
             const struct props_breach *breach)
{
    const char *id = props_property_id(breach->property);

    if (breach->property == PROPS_NONE && schedule->broken[0] == '\0') {
        printf("%s: every property holds\n", path);
        return CLI_OK;
    }
    if (breach->property == PROPS_NONE) {
        printf("%s: %s holds, it was to be broken\n", path, schedule->broken);
        return CLI_BROKEN;
    }
    printf("%s: %s broken: %s\n  %s\n", path, id,
           props_property_sentence(breach->property), breach->text);
    return strcmp(schedule->broken, id) == 0 ? CLI_OK
                                             : cli_exit_of(breach->property);
}

static enum cli_exit
run_it(const char *path, const struct sim_schedule *schedule,
       struct sched_run *run, const char *folder)
{
    const char *refused;

    sched_run_events(run, &schedule->config, schedule->events,
                     schedule->events_count, PROPS_OF_TRACES, &refused);
    if (refused != NULL)
        return (enum cli_exit)cli_usage("%s: event %" PRIu32 ": %s", path,
                                        run->trail->count + 1, refused);
    if (folder != NULL && !write_traces(run->world, folder))
        return CLI_USAGE;
    return tell_verdict(path, schedule, &run->judge.breach);
}

enum cli_exit
cli_schedule_run(const char *path, const char *folder)
{
    struct sim_error error;
    struct sim_schedule *schedule = sim_schedule_read(path, &error);
    struct sched_run *run;
    enum cli_exit exit_code;

    if (schedule == NULL)
        return (enum cli_exit)cli_usage("%s", error.text);
    run = sched_run_new(SIM_SCHEDULE_EVENTS_MAX);
    exit_code = run != NULL
                    ? run_it(path, schedule, run, folder)
                    : (enum cli_exit)cli_usage("%s: not enough memory", path);
    sched_run_delete(run);
    sim_schedule_free(schedule);
    return exit_code;
}

/* --------------------------------------------------------------- the campaign
 */

static enum cli_exit
report_failure(const struct props_campaign *campaign, const char *save,
               uint64_t seed)
{
    struct sched_failure failure;
    struct sim_error error;
    char command[256];
    char name[64];
    char path[1024];
    enum cli_exit exit_code;

    printf("traced world %" PRIu64 " fails\n", seed);
    fflush(stdout);
    snprintf(command, sizeof command,
             "profsim check --seeds %" PRIu64 "..%" PRIu64, seed, seed);
    if (!sched_failure_of_seed(&failure, campaign->asked, seed, command)) {
        sched_failure_close(&failure);
        return (enum cli_exit)cli_usage("not enough memory to shrink");
    }
    sched_failure_print(stdout, &failure);
    snprintf(name, sizeof name, "%s-traced-%" PRIu64,
             failure.crashed ? "crash"
                             : props_property_id(failure.breach.property),
             seed);
    if (sched_failure_save(&failure, save, name, path, sizeof path, &error))
        printf("replay: profsim replay %s\n", path);
    else
        printf("not saved: %s\nreplay: %s\n", error.text, command);
    exit_code = cli_exit_of(failure.breach.property);
    if (failure.crashed)
        exit_code = failure.signal == SIGALRM ? CLI_LIVENESS : CLI_CRASH;
    if (failure.unstable)
        exit_code = CLI_NONDETERMINISM;
    sched_failure_close(&failure);
    return exit_code;
}

enum cli_exit
cli_schedule_campaign(const struct props_campaign *campaign, const char *save,
                      struct props_outcome *outcome)
{
    struct props_campaign traced = *campaign;

    traced.kind = &props_traced;
    if (!props_campaign_run(&traced, outcome))
        return (enum cli_exit)cli_usage("the system refused memory or a "
                                        "process");
    printf("traces: %" PRIu64 " runs, %" PRIu64 " events, log hash %016" PRIx64
           "\n",
           outcome->runs, outcome->events, outcome->hash);
    fprintf(stderr, "%.1f s, %.2f million events/s\n", outcome->seconds,
            (double)outcome->events / outcome->seconds / 1e6);
    if (outcome->end == PROPS_END_PASSED)
        return CLI_OK;
    return report_failure(campaign, save, outcome->seed);
}
