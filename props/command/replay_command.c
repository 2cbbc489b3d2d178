/*
 * replay_command.c -- `profsim replay` and `profsim shrink`: run saved
 * scenarios.
 */
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"
#include "common/escape.h"
#include "props/campaign/failure.h"
#include "props/page/failure_page.h"
#include "props/command/file_result.h"
#include "common/command/files.h"
#include "common/command/options.h"
#include "props/judge/replay.h"
#include "props/command/subject_file.h"

/* How a scenario is replayed. */
struct way {
    const struct subject *subject;
    const char *subject_path;
    struct cli_files files;
    struct props_replay_way run;
};

static bool
replay(struct props_replay *replay, const struct sim_scenario *scenario,
       props_set requested, const struct way *way)
{
    if (way->run.in_process)
        return props_replay_here(replay, scenario, requested, &way->run);
    return props_replay_run(replay, scenario, requested);
}

static enum cli_exit
describe(const struct props_replay *replay, const char *path, bool is_empty,
         struct props_breach *breach)
{
    if (replay->crashed)
        return cli_crash(path, replay->signal, breach);
    if (replay->refused)
        return cli_usage("%s", replay->error.text);
    *breach = replay->breach;
    if (breach->property != PROPS_NONE) {
        sim_escape_line(stdout, "%s: %s broken: %s", path,
                        props_property_id(breach->property),
                        props_property_sentence(breach->property));
        if ((breach->broken & PROPS_OF_TRACES) != 0) /* it names a session */
            sim_escape_line(stdout, "  %s", breach->text);
        else
            sim_escape_line(stdout, "  event %u: %s",
                            (unsigned)breach->event + 1, breach->text);
        return cli_exit_of(breach->property);
    }
    if (replay->error.text[0] != '\0') {
        sim_escape_line(stdout, "%s", replay->error.text);
        snprintf(breach->text, sizeof breach->text, "%s", replay->error.text);
        return CLI_BROKEN;
    }
    if (is_empty)
        return cli_no_events(path, breach);
    sim_escape_line(stdout, "%s: every property holds", path);
    return CLI_OK;
}

static enum cli_exit
replay_scenario(const struct sim_input *input, const char *path,
                const struct way *way, struct props_breach *breach)
{
    struct sim_error error;
    struct props_replay result;
    struct sim_scenario *scenario = sim_scenario_parse(
        (const char *)input->bytes, input->bytes_count, path, &error);
    enum cli_exit exit_code;
    props_set requested;

    if (scenario == NULL)
        return cli_usage("%s", error.text);
    requested = cli_subject_give(scenario, way->subject);
    if (replay(&result, scenario, requested, way))
        exit_code =
            describe(&result, path, scenario->events_count == 0, breach);
    else
        exit_code = cli_usage("%s: not enough memory", path);
    if (exit_code != CLI_USAGE &&
        !cli_subject_pages(&way->files.pages, scenario, requested,
                           way->subject_path, path))
        exit_code = CLI_USAGE;
    sim_scenario_free(scenario);
    return exit_code;
}

enum cli_exit
cli_replay_input(const struct sim_input *input, const char *path,
                 const struct subject *subject, struct props_breach *breach)
{
    const struct way way = {.subject = subject};

    *breach = cli_no_breach();
    return replay_scenario(input, path, &way, breach);
}

static enum cli_exit
replay_file(const char *path, const void *context)
{
    const struct way *way = context;
    struct props_breach breach = cli_no_breach();
    struct sim_input input;
    enum cli_exit exit_code;
    char command[CLI_SUBJECT_COMMAND_BYTES];

    cli_subject_command(command, sizeof command, "replay", way->subject_path);
    if (sim_input_read(&input, path)) {
        exit_code = replay_scenario(&input, path, way, &breach);
        sim_input_free(&input);
    } else {
        exit_code = cli_usage("%s: %s", path, input.reason);
    }
    cli_file_result(way->files.report, "files", path, exit_code, &breach,
                    command);
    return exit_code;
}

enum { SUBJECT = 1, IN_PROCESS, BREAK };

static const struct cli_option replay_table[] = {
    {SUBJECT, 0, "subject", "FILE", "the profiler that a file is about"},
    {IN_PROCESS, 0, "in-process", NULL,
     "no child and no limit of time: for a debugger, and for\ncore dumps"},
    {BREAK, 0, "break", "N",
     "in this process; raise SIGTRAP before event N, where\na debugger stops "
     "(docs/debugging.md)"},
    CLI_PAGE_OPTIONS,
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax replay_syntax = {
    .command = "replay",
    .words = "[OPTION...] FILE...",
    .about = "Run scenarios, and report what they break, if anything.\n",
    .options = replay_table,
    .exits = CLI_EXIT_HELP,
};

static bool
take_break(struct way *way, const char *value)
{
    uint64_t event;

    if (!cli_number("--break", value, 1, SIM_SCENARIO_EVENTS_MAX, &event))
        return false;
    way->run.break_before = (uint32_t)event;
    way->files.of_one = "--break takes one file";
    return way->run.in_process = true;
}

static bool
take(void *context, int id, const char *value)
{
    struct way *way = context;

    switch (id) {
    case SUBJECT:
        return cli_subject_take(&way->subject, &way->subject_path, value);
    case IN_PROCESS:
        return way->run.in_process = true;
    case BREAK:
        return take_break(way, value);
    default:
        return cli_files_take(&way->files, id, value);
    }
}

enum cli_exit
cli_replay(int argc, char **argv)
{
    struct way way = {0};

    return cli_files_run(argc, argv, &replay_syntax, &way.files, &way, take,
                         replay_file);
}

/* ---- shrink ---- */

static enum cli_exit
write_smaller(const struct props_failure *failure,
              const struct cli_page_paths *pages, const struct subject *subject)
{
    struct sim_scenario *scenario;
    struct sim_error error;
    enum cli_exit exit_code = CLI_OK;

    if (failure->text == NULL)
        return cli_usage("%s", failure->error.text);
    if (fputs(failure->text, stdout) < 0 || fflush(stdout) != 0)
        return CLI_USAGE; /* main() says why */
    scenario = sim_scenario_parse(failure->text, strlen(failure->text),
                                  "the shrunk scenario", &error);
    if (scenario == NULL)
        return cli_usage("%s", error.text);
    if (!cli_failure_write(pages, scenario, cli_subject_give(scenario, subject),
                           "profsim replay SMALLER.sim"))
        exit_code = CLI_USAGE;
    sim_scenario_free(scenario);
    return exit_code;
}

static const struct cli_syntax shrink_syntax = {
    .command = "shrink",
    .words = "[OPTION...] FILE.sim > SMALLER.sim",
    .about = "Remove every event that the failure does not need.\n",
    .options = cli_subject_options,
};

enum cli_exit
cli_shrink(int argc, char **argv)
{
    struct sim_error error;
    struct props_failure failure;
    struct sim_scenario *scenario;
    char command[512];
    struct cli_page_paths pages;
    enum cli_exit exit_code;
    struct cli_options words;
    const struct subject *subject;
    const char *subject_path;
    int count;
    bool done;

    cli_options_begin(&words, &shrink_syntax, argc, argv);
    if (!cli_subject_words(&words, argv, &count, &subject, &subject_path,
                           &pages))
        return words.exit_code;
    if (count == 0)
        return cli_options_missing(&words, "a FILE");
    if (count > 1)
        return cli_usage("shrink: takes one file; '%s' is one more", argv[2]);
    scenario = sim_scenario_read(argv[1], &error);
    if (scenario == NULL)
        return cli_usage("%s", error.text);
    cli_subject_command_on(command, sizeof command, "shrink", subject_path,
                           argv[1]);
    done = props_failure_of_scenario(
        &failure, scenario, cli_subject_give(scenario, subject), command);
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("%s: not enough memory", argv[1]);
    if (failure.runs == 0)
        return cli_usage("%s: breaks nothing, so there is nothing to shrink",
                         argv[1]);
    pages.input = argv[1];
    exit_code = write_smaller(&failure, &pages, subject);
    props_failure_free(&failure);
    return exit_code;
}
