/* schedule.c -- `profsim run`, `replay` and `check` of traced worlds. */
#include "schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "complaint.h"
#include "escape.h"
#include "file_result.h"
#include "output.h"
#include "sched_run.h"
#include "sched_text.h"

static bool
write_whole(const struct props_output *output,
            const struct sim_sched_session *session)
{
    const char *reason =
        props_output_write(output, session->bytes, session->bytes_count);

    if (reason != NULL)
        cli_usage("%s: %s", output->path, reason);
    return reason == NULL;
}

static bool
write_traces(const struct sim_sched_world *world, const char *folder,
             const char *input)
{
    char path[PROF_PATH_MAX];
    const struct props_output output = {.path = path, .input = input};
    struct prof_file file;
    uint32_t written = 0;
    int length;

    if (prof_file_folder(&file, folder) != PROF_OK) {
        cli_usage("%s: %s", folder, prof_file_reason(&file));
        return false;
    }
    for (uint32_t i = 0; i < sim_sched_world_sessions(world); i++) {
        const struct sim_sched_session *session =
            sim_sched_world_session(world, i);

        if (!session->has_ended)
            continue;
        if (++written == 1)
            length = snprintf(path, sizeof path, "%s/trace.out", folder);
        else
            length = snprintf(path, sizeof path, "%s/trace-%" PRIu32 ".out",
                              folder, written);
        if (length >= (int)sizeof path) {
            cli_usage("%s: File name too long", folder);
            return false;
        }
        if (!write_whole(&output, session))
            return false;
    }
    return true;
}

/* What it breaks, whatever it says that it does. */
static enum cli_exit
tell_breach(const char *path, const struct props_breach *breach)
{
    if (breach->property == PROPS_NONE) {
        sim_escape_line(stdout, "%s: every property holds", path);
        return CLI_OK;
    }
    sim_escape_line(stdout, "%s: %s broken: %s", path,
                    props_property_id(breach->property),
                    props_property_sentence(breach->property));
    sim_escape_line(stdout, "  %s", breach->text);
    return cli_exit_of(breach->property);
}

static enum cli_exit
tell_outcome(const char *path, const struct sim_schedule *schedule,
             struct props_breach *breach)
{
    const char *id = props_property_id(breach->property);
    const char *want = schedule->broken[0] != '\0' ? schedule->broken : "none";

    if (strcmp(want, id) == 0) {
        sim_escape_line(stdout, "%s: ok%s%s", path,
                        breach->property == PROPS_NONE ? "" : ": breaks ",
                        breach->property == PROPS_NONE ? "" : id);
        return CLI_OK;
    }
    if (breach->property != PROPS_NONE)
        return tell_breach(path, breach);
    snprintf(breach->text, sizeof breach->text, "%s holds, it was to be broken",
             want);
    sim_escape_line(stdout, "%s: %s", path, breach->text);
    return CLI_BROKEN;
}

/* Read and run a schedule. returns: NULL, and a complaint, if that cannot be */
static struct sched_run *
run_input(const struct sim_input *input, const char *path,
          struct sim_schedule **schedule)
{
    struct sim_error error;
    struct sched_run *run = sched_run_new(SIM_SCHEDULE_EVENTS_MAX);
    const char *refused;

    *schedule = sim_schedule_parse((const char *)input->bytes,
                                   input->bytes_count, path, &error);
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
cli_schedule_run(const struct sim_input *input, const char *path,
                 const char *folder, struct props_breach *breach)
{
    struct sim_schedule *schedule;
    struct sched_run *run = run_input(input, path, &schedule);
    enum cli_exit exit_code = CLI_USAGE;

    if (run == NULL)
        return CLI_USAGE;
    *breach = run->judge.breach;
    if (folder == NULL || write_traces(run->world, folder, path))
        exit_code = tell_outcome(path, schedule, breach);
    sched_run_delete(run);
    sim_schedule_free(schedule);
    return exit_code;
}

enum cli_exit
cli_schedule_replay(const struct sim_input *input, const char *path,
                    struct props_breach *breach)
{
    struct sim_schedule *schedule;
    struct sched_run *run = run_input(input, path, &schedule);
    enum cli_exit exit_code;

    if (run == NULL)
        return CLI_USAGE;
    *breach = run->judge.breach;
    exit_code = breach->property == PROPS_NONE && schedule->events_count == 0
                    ? cli_no_events(path, breach)
                    : tell_breach(path, breach);
    sched_run_delete(run);
    sim_schedule_free(schedule);
    return exit_code;
}
