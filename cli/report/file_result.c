/* file_result.c -- see file_result.h. */
#include "file_result.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "complaint.h"
#include "escape.h"

struct props_breach
cli_no_breach(void)
{
    return (struct props_breach){.property = PROPS_NONE};
}

enum cli_exit
cli_exit_of(enum props_property property)
{
    if (property == PROPS_NONE)
        return CLI_OK;
    if (property == PROPS_L1 || property == PROPS_L2)
        return CLI_LIVENESS;
    return property == PROPS_D1 ? CLI_NONDETERMINISM : CLI_BROKEN;
}

enum cli_exit
cli_crash(const char *path, int signal, struct props_breach *breach)
{
    const size_t room = sizeof breach->text;

    if (signal == SIGALRM)
        snprintf(breach->text, room, "the run does not end");
    else if (signal != 0)
        snprintf(breach->text, room, "the run was ended by signal %d (%s)",
                 signal, strsignal(signal));
    else
        snprintf(breach->text, room, "the run ended its process");
    sim_escape_line(stdout, "%s: %s", path, breach->text);
    return signal == SIGALRM ? CLI_LIVENESS : CLI_CRASH;
}

enum cli_exit
cli_no_events(const char *path, struct props_breach *breach)
{
    snprintf(breach->text, sizeof breach->text,
             "it has no events, so nothing was tried");
    sim_escape_line(stdout, "%s: %s", path, breach->text);
    return CLI_INCOMPLETE;
}

void
cli_file_result(struct cli_report *report, const char *subject,
                const char *path, enum cli_exit exit_code,
                const struct props_breach *breach, const char *command)
{
    struct cli_result *result =
        cli_report_add(report, subject, path, cli_verdict_of(exit_code));
    const char *text =
        exit_code == CLI_USAGE ? cli_complaint_last() : breach->text;

    if (breach->property != PROPS_NONE) {
        cli_result_text(report, &result->property, "%s",
                        props_property_id(breach->property));
        cli_result_text(report, &result->about, "%s",
                        props_property_sentence(breach->property));
    }
    if (text[0] != '\0')
        cli_result_text(report, &result->text, "%s", text);
    if (exit_code != CLI_USAGE && strcmp(path, "-") != 0)
        cli_result_replay(report, result, command, path);
}

void
cli_file_skipped(struct cli_report *report, const char *subject,
                 const char *path, const char *text)
{
    struct cli_result *result =
        cli_report_add(report, subject, path, CLI_VERDICT_NOT_APPLICABLE);

    cli_result_text(report, &result->text, "%s", text);
}

bool
cli_files_take(struct cli_files *files, int id, const char *value)
{
    switch (id) {
    case CLI_PAGE_HTML:
    case CLI_PAGE_DATA:
        return cli_page_take(&files->pages, id, value);
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(files->report, id, value);
    default:
        files->out = value;
        return *value != '\0' ||
               cli_complain("--out needs the name of a folder");
    }
}

enum cli_exit
cli_files_run(int argc, char **argv, const struct cli_syntax *syntax,
              struct cli_files *files, void *words,
              bool (*take)(void *words, int id, const char *value),
              enum cli_exit (*run)(const char *path, const void *words))
{
    struct cli_report report;
    enum cli_exit worst = CLI_OK;
    struct cli_options options;
    int count = 0;
    int id;

    files->report = &report;
    cli_report_begin(&report, argc, argv);
    cli_options_begin(&options, syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD)
            argv[++count] = argv[options.index - 1];
        else if (!take(words, id, options.value))
            return cli_report_drop(&report, CLI_USAGE);
    }
    if (options.ended)
        return cli_report_drop(&report, options.exit_code);
    if (count == 0)
        return cli_report_drop(&report,
                               cli_options_missing(&options, "a FILE"));
    if (count > 1 && cli_page_wanted(&files->pages))
        return cli_report_drop(&report,
                               cli_usage("--html and --data take one file"));
    files->out_each = count > 1;
    report.inputs = &argv[1];
    report.inputs_count = count;
    for (int i = 1; i <= count; i++)
        worst = cli_exit_worse(worst, run(argv[i], words));
    return cli_report_end(&report, worst);
}
