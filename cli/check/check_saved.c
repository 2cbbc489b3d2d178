/* check_saved.c -- see check_saved.h. */
#include "check_saved.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "escape.h"
#include "file_result.h"
#include "quote.h"
#include "replay.h"
#include "subject_file.h"

#define SUBJECT "saved failures"

static int
is_scenario(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(&entry->d_name[length - 4], ".sim") == 0;
}

/*
 * Replay a scenario; a file that cannot be read is a failure too. What other
 * rules break says nothing about the rules that are asked about.
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
    bool is_of_subject;
    bool done;

    if (scenario == NULL)
        return cli_usage("%s", error.text);
    is_of_subject =
        cli_subject_give(scenario, options->campaign.subject) != PROPS_ALL;
    if (is_of_subject != (options->campaign.subject != NULL)) {
        sim_escape_line(stdout, "%s: of %s, left alone", path,
                        is_of_subject ? "a subject" : "the library");
        snprintf(breach->text, sizeof breach->text, "it is about %s",
                 is_of_subject ? "a subject" : "the library");
        sim_scenario_free(scenario);
        return CLI_OK;
    }
    if (scenario->config.rules != options->campaign.rules) {
        sim_escape_line(stdout, "%s: rules %s, left alone", path,
                        scenario->config.rules->name);
        snprintf(breach->text, sizeof breach->text, "it is about rules %s",
                 scenario->config.rules->name);
        sim_scenario_free(scenario);
        return CLI_OK;
    }
    done = props_replay_run(&replay, scenario, options->campaign.asked);
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("not enough memory");
    if (replay.crashed)
        return cli_crash(path, replay.signal, breach);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    *breach = replay.breach;
    if (breach->property == PROPS_NONE) {
        sim_escape_line(stdout, "%s: passes now; it may be deleted", path);
        return CLI_OK;
    }
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
    struct dirent **names;
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
    if (count >= 0)
        free(names);
    return exit_code;
}
