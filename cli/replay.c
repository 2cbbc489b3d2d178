/*
 * replay.c -- `profsim replay` and `profsim shrink`: scenario files again.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "escape.h"
#include "failure.h"
#include "file_result.h"
#include "options.h"
#include "quote.h"
#include "replay.h"
#include "subject_file.h"

static enum cli_exit
replay_scenario(const struct sim_input *input, const char *path,
                const struct subject *subject, struct props_breach *breach)
{
    struct sim_error error;
    struct props_replay replay;
    struct sim_scenario *scenario = sim_scenario_parse(
        (const char *)input->bytes, input->bytes_count, path, &error);
    bool is_empty;
    bool done;

    if (scenario == NULL)
        return cli_usage("%s", error.text);
    is_empty = scenario->events_count == 0;
    done = props_replay_run(&replay, scenario,
                            cli_subject_give(scenario, subject));
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("%s: not enough memory", path);
    if (replay.crashed)
        return cli_crash(path, replay.signal, breach);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    *breach = replay.breach;
    if (breach->property != PROPS_NONE) {
        sim_escape_line(stdout, "%s: %s broken: %s", path,
                        props_property_id(breach->property),
                        props_property_sentence(breach->property));
        if ((breach->broken & PROPS_OF_TRACES) != 0) /* it names its session */
            sim_escape_line(stdout, "  %s", breach->text);
        else
            sim_escape_line(stdout, "  event %u: %s",
                            (unsigned)breach->event + 1, breach->text);
        return cli_exit_of(breach->property);
    }
    if (replay.error.text[0] != '\0') {
        sim_escape_line(stdout, "%s", replay.error.text);
        snprintf(breach->text, sizeof breach->text, "%s", replay.error.text);
        return CLI_BROKEN;
    }
    if (is_empty)
        return cli_no_events(path, breach);
    sim_escape_line(stdout, "%s: every property holds", path);
    return CLI_OK;
}

enum cli_exit
cli_replay_input(const struct sim_input *input, const char *path,
                 const struct subject *subject, struct props_breach *breach)
{
    *breach = cli_no_breach();
    return replay_scenario(input, path, subject, breach);
}

static enum cli_exit
replay_file(struct cli_report *report, const char *path,
            const struct subject *subject, const char *subject_path)
{
    struct props_breach breach = cli_no_breach();
    struct sim_input input;
    enum cli_exit exit_code;
    char command[CLI_SUBJECT_COMMAND_BYTES];

    cli_subject_command(command, sizeof command, "replay", subject_path);
    if (sim_input_read(&input, path)) {
        exit_code = cli_replay_input(&input, path, subject, &breach);
        sim_input_free(&input);
    } else {
        exit_code = cli_usage("%s: %s", path, input.reason);
    }
    cli_file_result(report, "files", path, exit_code, &breach, command);
    return exit_code;
}

enum { SUBJECT = 1 };

static const struct cli_option replay_table[] = {
    {SUBJECT, 0, "subject", "FILE", "the profiler that a file is about"},
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax replay_syntax = {
    .command = "replay",
    .words = "[OPTION...] FILE...",
    .about = "Run scenarios, and say what they break, if anything.\n",
    .options = replay_table,
    .exits = CLI_EXIT_HELP,
};

enum cli_exit
cli_replay(int argc, char **argv)
{
    enum cli_exit worst = CLI_OK;
    struct cli_report report;
    struct cli_options words;
    const struct subject *subject = NULL;
    const char *subject_path = NULL;
    int count = 0;
    int id;

    cli_report_begin(&report, argc, argv);
    cli_options_begin(&words, &replay_syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD)
            argv[++count] = argv[words.index - 1];
        else if (id == SUBJECT) {
            if (subject != NULL)
                return cli_report_drop(
                    &report, cli_usage("--subject names one profiler; '%s' is "
                                       "one more",
                                       words.value));
            subject_path = words.value;
            subject = cli_subject_load(subject_path);
            if (subject == NULL)
                return cli_report_drop(&report, CLI_USAGE);
        } else if (!cli_report_take(&report, id, words.value))
            return cli_report_drop(&report, CLI_USAGE);
    }
    if (words.ended)
        return cli_report_drop(&report, words.exit_code);
    if (count == 0)
        return cli_report_drop(&report, cli_options_missing(&words, "a FILE"));
    report.inputs = &argv[1];
    report.inputs_count = count;
    for (int i = 1; i <= count; i++)
        worst = cli_exit_worse(
            worst, replay_file(&report, argv[i], subject, subject_path));
    return cli_report_end(&report, worst);
}

/* What a header says; quoting keeps a path from ending its line. */
static void
say_command(char *command, size_t room, const char *subject_path,
            const char *path)
{
    size_t bytes;
    FILE *text;

    cli_subject_command(command, room, "shrink", subject_path);
    bytes = strlen(command);
    text = fmemopen(command + bytes, room - bytes, "w");
    if (text == NULL)
        return;
    fputc(' ', text);
    cli_quote_path(text, path);
    fclose(text);
    command[room - 1] = '\0';
}

static const struct cli_syntax shrink_syntax = {
    .command = "shrink",
    .words = "[--subject FILE] FILE.sim > SMALLER.sim",
    .about = "Leave out every event that the failure does not need.\n",
    .options = cli_subject_option,
};

enum cli_exit
cli_shrink(int argc, char **argv)
{
    struct sim_error error;
    struct props_failure failure;
    struct sim_scenario *scenario;
    char command[512];
    enum cli_exit exit_code = CLI_OK;
    struct cli_options words;
    const struct subject *subject;
    const char *subject_path;
    int count;
    bool done;

    cli_options_begin(&words, &shrink_syntax, argc, argv);
    if (!cli_subject_words(&words, argv, &count, &subject, &subject_path))
        return words.exit_code;
    if (count == 0)
        return cli_options_missing(&words, "a FILE");
    if (count > 1)
        return cli_usage("shrink: takes one file; '%s' is one more", argv[2]);
    scenario = sim_scenario_read(argv[1], &error);
    if (scenario == NULL)
        return cli_usage("%s", error.text);
    say_command(command, sizeof command, subject_path, argv[1]);
    done = props_failure_of_scenario(
        &failure, scenario, cli_subject_give(scenario, subject), command);
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("%s: not enough memory", argv[1]);
    if (failure.runs == 0)
        return cli_usage("%s: breaks nothing, so there is nothing to shrink",
                         argv[1]);
    if (failure.text == NULL)
        exit_code = cli_usage("%s", failure.error.text);
    else if (fputs(failure.text, stdout) < 0 || fflush(stdout) != 0)
        exit_code = cli_usage("cannot write the scenario");
    props_failure_free(&failure);
    return exit_code;
}
