/* check_saved.c -- see check_saved.h. */
#include "props/command/check_saved.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "props/command/file_result.h"
#include "common/command/quote.h"
#include "props/judge/replay.h"
#include "props/command/subject_file.h"

#define SUBJECT "saved failures"

static int
is_scenario(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(&entry->d_name[length - 4], ".sim") == 0;
}

/*
 * Check that a file is about the subject, the rule set and a property that the
 * options ask for.
 *
 * out:     about, in words what the file is about
 * returns: false if the options ask for something else
 */
static bool
is_requested(const struct cli_check_options *options,
             const struct sim_scenario *scenario, bool is_of_subject,
             char *about, size_t about_bytes)
{
    const struct props_campaign *campaign = &options->campaign;
    const enum props_property property =
        scenario->outcome == SIM_OUTCOME_BROKEN
            ? props_property_find(scenario->property)
            : PROPS_NONE;

    if (is_of_subject != (campaign->subject != NULL))
        snprintf(about, about_bytes, "%s",
                 is_of_subject ? "a subject" : "the library");
    else if (scenario->config.rules != campaign->rules)
        snprintf(about, about_bytes, "rules %s", scenario->config.rules->name);
    else if (property != PROPS_NONE &&
             (campaign->requested & PROPS_BIT(property)) == 0)
        snprintf(about, about_bytes, "property %s", scenario->property);
    else
        return true;
    return false;
}

/*
 * Replay a scenario as `profsim replay` does; a file that cannot be read is a
 * failure too.
 */
static enum cli_exit
replay_scenario(const struct cli_check_options *options,
                const struct sim_input *input, const char *path,
                struct props_breach *breach)
{
    struct props_replay replay;
    struct sim_error error;
    struct sim_scenario *scenario = sim_scenario_parse(
        (const char *)input->bytes, input->bytes_count, path, &error);
    props_set judged;
    char about[64];
    bool done;

    if (scenario == NULL)
        return cli_usage("%s", error.text);
    judged = cli_subject_give(scenario, options->campaign.subject);
    if (!is_requested(options, scenario, judged != PROPS_ALL, about,
                      sizeof about)) {
        sim_escape_line(stdout, "%s: left alone; it is about %s", path, about);
        snprintf(breach->text, sizeof breach->text, "it is about %s", about);
        sim_scenario_free(scenario);
        return CLI_OK;
    }
    done = props_replay_run(&replay, scenario, judged);
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("not enough memory");
    if (replay.crashed)
        return cli_crash(path, replay.signal, breach);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    if (replay.breach.property == PROPS_NONE ||
        (options->campaign.requested & PROPS_BIT(replay.breach.property)) ==
            0) {
        sim_escape_line(stdout, "%s: passes now; it may be deleted", path);
        return CLI_OK;
    }
    *breach = replay.breach;
    sim_escape_line(stdout, "%s: %s is still broken: %s", path,
                    props_property_id(breach->property), breach->text);
    return cli_exit_of(breach->property);
}

static enum cli_exit
replay_saved(const struct cli_check_options *options, const char *path)
{
    struct props_breach breach = cli_no_breach();
    struct sim_input input;
    enum cli_exit exit_code;
    char command[CLI_SUBJECT_COMMAND_BYTES];

    cli_subject_command(command, sizeof command, "replay",
                        options->subject_path);
    if (!sim_input_read_regular(&input, path)) {
        exit_code = cli_usage("%s: %s", path, input.reason);
    } else {
        exit_code = replay_scenario(options, &input, path, &breach);
        sim_input_free(&input);
    }
    if (exit_code == CLI_OK && breach.text[0] != '\0')
        cli_file_skipped(options->report, SUBJECT, path, breach.text);
    else
        cli_file_result(options->report, SUBJECT, path, exit_code, &breach,
                        command);
    if (exit_code != CLI_OK && exit_code != CLI_USAGE) {
        printf("replay: %s ", command);
        cli_quote_path(stdout, path);
        puts("\nA saved failure comes first; delete it to search on.");
    }
    return exit_code;
}

enum cli_exit
cli_check_saved(const struct cli_check_options *options)
{
    struct dirent **names = NULL;
    const int count = scandir(options->save, &names, is_scenario, alphasort);
    enum cli_exit exit_code = CLI_OK;
    char path[PATH_MAX];

    if (count < 0 && errno != ENOENT)
        return cli_usage("%s: saved failures cannot be read: %s", options->save,
                         strerror(errno));
    for (int i = 0; i < count; i++) {
        const int bytes = snprintf(path, sizeof path, "%s/%s", options->save,
                                   names[i]->d_name);

        if (exit_code == CLI_OK)
            exit_code =
                bytes < (int)sizeof path
                    ? replay_saved(options, path)
                    : cli_usage("%s: File name too long", options->save);
        free(names[i]);
    }
    free(names);
    return exit_code;
}
