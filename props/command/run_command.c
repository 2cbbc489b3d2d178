/*
 * run_command.c -- `profsim run`: runs scenarios and checks what they expect.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "props/page/failure_page.h"
#include "props/command/commands.h"
#include "common/escape.h"
#include "props/command/file_result.h"
#include "common/command/options.h"
#include "prof/file.h"
#include "common/command/files.h"
#include "common/profiles.h"
#include "props/command/profiles_scenario.h"
#include "props/judge/replay.h"
#include "props/command/subject_file.h"

struct words {
    bool lines;                    /* print the lines of allocations */
    const struct subject *subject; /* of scenarios about one; NULL: none */
    const char *subject_path;
    struct cli_files files;
};

/* --subject needs a scenario about a subject, --debug one about the library. */
static bool
fits_subject(const struct sim_scenario *scenario, const char *path,
             const struct words *words)
{
    if (words->subject != NULL && scenario->config.subject == NULL) {
        cli_usage("%s: --subject needs a scenario with the line "
                  "`instruments subject`",
                  path);
        return false;
    }
    if (words->lines && scenario->config.subject != NULL) {
        cli_usage("%s: --debug is about the library, not about a subject",
                  path);
        return false;
    }
    return true;
}

/* Write what the options ask for besides the verdict. in: folder, "": no
 * profiles */
static bool
write_run(struct sim_scenario *scenario, const char *path, const char *folder,
          props_set requested, const struct words *words)
{
    if (scenario->config.subject != NULL) {
        if (!cli_profiles_show_subject(folder, path, scenario))
            return false;
    } else if (folder[0] != '\0' &&
               !cli_profiles_write_scenario(folder, path, scenario)) {
        return false;
    }
    if (!cli_subject_pages(&words->files.pages, scenario, requested,
                           words->subject_path, path))
        return false;
    return !words->lines || cli_profiles_print_allocations(path, scenario);
}

static enum cli_exit
run_scenario(const struct sim_input *input, const char *path,
             const struct words *words, struct props_breach *breach)
{
    struct sim_error error;
    struct props_replay replay;
    struct sim_scenario *scenario = sim_scenario_parse(
        (const char *)input->bytes, input->bytes_count, path, &error);
    char folder[PATH_MAX];
    props_set requested;
    bool written;
    bool done;

    if (scenario == NULL)
        return cli_usage("%s", error.text);
    requested = cli_subject_give(scenario, words->subject);
    if (!fits_subject(scenario, path, words) ||
        !cli_folder_prepare(folder, sizeof folder, "run", words->files.out,
                            words->files.out_each, path)) {
        sim_scenario_free(scenario);
        return CLI_USAGE;
    }
    done = props_replay_run(&replay, scenario, requested);
    written = !done || replay.crashed || replay.refused ||
              write_run(scenario, path, folder, requested, words);
    sim_scenario_free(scenario);
    if (!written)
        return CLI_USAGE;
    if (!done)
        return cli_usage("%s: not enough memory", path);
    if (replay.crashed)
        return cli_crash(path, replay.signal, breach);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    *breach = replay.breach;
    if (replay.as_expected) {
        sim_escape_line(stdout, "%s: ok%s%s", path,
                        breach->property == PROPS_NONE ? "" : ": breaks ",
                        breach->property == PROPS_NONE
                            ? ""
                            : props_property_id(breach->property));
        return CLI_OK;
    }
    if (replay.error.text[0] != '\0')
        sim_escape_line(stdout, "%s", replay.error.text);
    if (breach->property != PROPS_NONE)
        sim_escape_line(stdout, "%s: %s broken: %s", path,
                        props_property_id(breach->property), breach->text);
    else
        snprintf(breach->text, sizeof breach->text, "%s", replay.error.text);
    return CLI_BROKEN;
}

/* Add the result of a file, unless its run has added results. */
static void
add_result(const struct words *words, const char *path, enum cli_exit exit_code,
           struct props_breach *breach)
{
    char command[CLI_SUBJECT_COMMAND_BYTES];

    if (exit_code == CLI_OK && breach->property != PROPS_NONE)
        snprintf(breach->text, sizeof breach->text, "broken, as it must be");
    cli_subject_command(command, sizeof command, "run", words->subject_path);
    cli_file_result(words->files.report, "files", path, exit_code, breach,
                    command);
}

static enum cli_exit
run_input(struct sim_input *input, const char *path, const struct words *words)
{
    struct props_breach breach = cli_no_breach();
    enum cli_exit exit_code;

    if (input->kind == SIM_INPUT_SCENARIO)
        exit_code = run_scenario(input, path, words, &breach);
    else if (input->kind == SIM_INPUT_RECORDING)
        exit_code =
            cli_usage("%s: this is a recording; 'profsim show' shows it", path);
    else
        exit_code = cli_usage("%s: not a scenario%s", path,
                              input->bytes_count == 0 ? ": it is empty" : "");
    add_result(words, path, exit_code, &breach);
    return exit_code;
}

static enum cli_exit
run_file(const char *path, const void *context)
{
    const struct words *words = context;
    struct props_breach breach = cli_no_breach();
    struct sim_input input;
    enum cli_exit exit_code;

    if (!sim_input_read(&input, path)) {
        cli_usage("%s: %s", path, input.reason);
        add_result(words, path, CLI_USAGE, &breach);
        return CLI_USAGE;
    }
    exit_code = run_input(&input, path, words);
    sim_input_free(&input);
    return exit_code;
}

enum { OUT = 1, DEBUG, SUBJECT };

static const struct cli_option table[] = {
    {OUT, 0, "out", "DIR",
     "write profiles: heap, allocs, block, mutex, as .pb.gz\nand .txt. "
     "Scenarios with tasks also: goroutine,\nthreadcreate, profile (CPU), "
     "goroutine-stacks.txt.\nTraces: trace.out, trace-2.out ..."},
    {DEBUG, 0, "debug", "WHAT",
     "alloc: print a line of each allocation, free and\ncollection, with the "
     "task that did it"},
    {SUBJECT, 0, "subject", "FILE",
     "the profiler that scenarios are about (docs/subjects.md):\nprint what "
     "it shows at the end; --out then writes\nheap.pb.gz and, of waits, "
     "block.pb.gz, mutex.pb.gz"},
    CLI_PAGE_OPTIONS,
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "run",
    .words = "[OPTION...] FILE...",
    .about = "Run scenarios and compare what happens with their `expect` "
             "lines. FILE may be a\npipe; - is standard input. ('profsim show' "
             "shows recordings.)\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

static bool
take(void *context, int id, const char *value)
{
    struct words *words = context;

    switch (id) {
    case SUBJECT:
        return cli_subject_take(&words->subject, &words->subject_path, value);
    case DEBUG:
        words->lines = true;
        return strcmp(value, "alloc") == 0 ||
               cli_complain("--debug takes alloc, not '%s'", value);
    default:
        return cli_files_take(&words->files, id, value);
    }
}

enum cli_exit
cli_run(int argc, char **argv)
{
    struct words words = {.lines = false};

    return cli_files_run(argc, argv, &syntax, &words.files, &words, take,
                         run_file);
}
