/* file_result.c -- see file_result.h. */
#include "props/command/file_result.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"

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
