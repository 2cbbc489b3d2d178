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

    snprintf(temporary, sizeof temporary, "%.1024s.%ld.part", path,
             (long)getpid());
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

/* What it breaks, whatever it says that it does. */
static enum cli_exit
tell_breach(const char *path, const struct props_breach *breach)
{
    if (breach->property == PROPS_NONE) {
        printf("%s: every property holds\n", path);
        return CLI_OK;
    }
    printf("%s: %s broken: %s\n  %s\n", path,
           props_property_id(breach->property),
           props_property_sentence(breach->property), breach->text);
    return cli_exit_of(breach->property);
}

static enum cli_exit
tell_outcome(const char *path, const struct sim_schedule *schedule,
             const struct props_breach *breach)
{
    const char *id = props_property_id(breach->property);
    const char *want = schedule->broken[0] != '\0' ? schedule->broken : "none";

    if (strcmp(want, id) == 0) {
        printf("%s: ok%s%s\n", path,
               breach->property == PROPS_NONE ? "" : ": breaks ",
               breach->property == PROPS_NONE ? "" : id);
        return CLI_OK;
    }
    if (breach->property != PROPS_NONE)
        return tell_breach(path, breach);
    printf("%s: %s holds, it was to be broken\n", path, want);
    return CLI_BROKEN;
}

/* Read and run a schedule. returns: NULL, and a complaint, if that cannot be */
static struct sched_run *
run_file(const char *path, struct sim_schedule **schedule)
{
    struct sim_error error;
    struct sched_run *run = sched_run_new(SIM_SCHEDULE_EVENTS_MAX);
    const char *refused;

    *schedule = sim_schedule_read(path, &error);
    if (*schedule == NULL || run == NULL) {
        cli_usage("%s", *schedule == NULL ? error.text : "not enough memory");
        goto out;
    }
    if ((*schedule)->broken[0] != '\0' &&
        props_property_find((*schedule)->broken) == PROPS_NONE) {
        cli_usage("%s:%" PRIu32 ": there is no property '%s'; 'profsim list' "
                  "names them",
                  path, (*schedule)->broken_line, (*schedule)->broken);
        goto out;
    }
    sched_run_events(run, &(*schedule)->config, (*schedule)->events,
                     (*schedule)->events_count, PROPS_OF_TRACES, &refused);
    if (refused == NULL)
        return run;
    cli_usage("%s: event %" PRIu32 ": %s", path, run->trail->count + 1,
              refused);
out:
    sched_run_delete(run);
    sim_schedule_free(*schedule);
    *schedule = NULL;
    return NULL;
}

enum cli_exit
cli_schedule_run(const char *path, const char *folder)
{
    struct sim_schedule *schedule;
    struct sched_run *run = run_file(path, &schedule);
    enum cli_exit exit_code = CLI_USAGE;

    if (run == NULL)
        return CLI_USAGE;
    if (folder == NULL || write_traces(run->world, folder))
        exit_code = tell_outcome(path, schedule, &run->judge.breach);
    sched_run_delete(run);
    sim_schedule_free(schedule);
    return exit_code;
}

enum cli_exit
cli_schedule_replay(const char *path)
{
    struct sim_schedule *schedule;
    struct sched_run *run = run_file(path, &schedule);
    enum cli_exit exit_code;

    if (run == NULL)
        return CLI_USAGE;
    exit_code = tell_breach(path, &run->judge.breach);
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
