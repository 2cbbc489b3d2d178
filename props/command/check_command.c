/*
 * check_command.c -- `profsim check`: first replays saved failures, then runs
 * the checks by enumeration, then a campaign of seeds.
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "props/campaign/campaign.h"
#include "props/command/check_command.h"
#include "props/command/check_recording.h"
#include "props/command/check_saved.h"
#include "props/command/corpus.h"
#include "props/sampling/checker.h"
#include "props/command/commands.h"
#include "common/escape.h"
#include "props/campaign/failure.h"
#include "props/page/failure_page.h"
#include "props/command/file_result.h"
#include "sim/generate/generate.h"
#include "prof/file.h"
#include "props/command/subject_file.h"

/* ---- the campaign ---- */

static enum cli_exit
run_campaign(const struct cli_check_options *options,
             const struct props_campaign *campaign, struct cli_search *search)
{
    const bool traced = cli_check_is_traced(campaign);
    struct props_outcome *outcome = traced ? &search->traces : &search->heaps;

    if (!props_campaign_run(campaign, outcome))
        return cli_usage("the system refused memory or a process");
    /* After a failure the totals depend on the number of jobs, so they go to
     * stderr. */
    cli_check_report(outcome->end == PROPS_END_PASSED ? stdout : stderr,
                     campaign, outcome);
    fprintf(stderr, "%.1f s, %.2f million events/s\n", outcome->seconds,
            (double)outcome->events / outcome->seconds / 1e6);
    if (outcome->end != PROPS_END_PASSED)
        return cli_check_failed(options, campaign, search, outcome, NULL);
    *(traced ? &search->traces_done : &search->heaps_done) = true;
    return CLI_OK;
}

/* Run the kinds of worlds that the requested properties need: first worlds with
 * only a heap, then traced worlds, in which processors take tasks, with a heap
 * or without. */
static enum cli_exit
run_campaigns(const struct cli_check_options *options,
              struct cli_search *search)
{
    enum cli_exit exit_code = CLI_OK;

    if (options->campaign.subject != NULL) {
        struct props_campaign campaign = options->campaign;

        campaign.worlds = SIM_WORLDS_SUBJECT;
        campaign.requested = cli_search_applicable(options, search);
        return run_campaign(options, &campaign, search);
    }
    for (int i = 0; i < CLI_PART_COUNT && exit_code == CLI_OK; i++) {
        struct props_campaign part;

        if (cli_check_part(options, (enum cli_part_kind)i, &part))
            exit_code = run_campaign(options, &part, search);
    }
    return exit_code;
}

/* ---- files ---- */

static enum cli_exit
check_input(const struct cli_check_options *options, struct sim_input *input,
            const char *path, struct props_breach *breach)
{
    struct sim_recording *recording;
    enum cli_exit exit_code;

    if (input->kind != SIM_INPUT_RECORDING)
        return cli_replay_input(input, path, options->campaign.subject, breach);
    recording = cli_take_recording(input, path);
    if (recording == NULL)
        return CLI_USAGE;
    exit_code =
        cli_check_recording(recording, path, options->campaign.rules,
                            options->campaign.requested, options->report);
    sim_recording_close(recording);
    return exit_code;
}

static enum cli_exit
check_file(const struct cli_check_options *options, const char *path)
{
    struct props_breach breach = cli_no_breach();
    enum sim_input_kind kind = SIM_INPUT_OTHER;
    struct sim_input input;
    enum cli_exit exit_code;
    char replay[CLI_SUBJECT_COMMAND_BYTES];

    cli_subject_command(replay, sizeof replay, "replay", options->subject_path);
    if (sim_input_read(&input, path)) {
        kind = input.kind;
        exit_code = check_input(options, &input, path, &breach);
        sim_input_free(&input);
    } else {
        exit_code = cli_usage("%s: %s", path, input.reason);
    }
    if (kind != SIM_INPUT_RECORDING || exit_code == CLI_USAGE)
        cli_file_result(options->report, "files", path, exit_code, &breach,
                        replay);
    return exit_code;
}

static enum cli_exit
check_files(const struct cli_check_options *options, char **files)
{
    enum cli_exit worst = CLI_OK;

    for (int i = 0; i < options->files_count; i++)
        worst = cli_exit_worse(worst, check_file(options, files[i]));
    return worst;
}

/* returns: the exit code; whether something was not tried does not count yet */
static enum cli_exit
search(const struct cli_check_options *options, struct cli_search *search)
{
    enum cli_exit exit_code = cli_check_saved(options);

    /* For a subject the campaign comes first: its verdicts are exact, and so
     * say more. */
    if (exit_code == CLI_OK && options->campaign.subject == NULL)
        exit_code = cli_check_enumerated(options, search, NULL);
    if (exit_code == CLI_OK)
        exit_code = run_campaigns(options, search);
    if (exit_code == CLI_OK && options->campaign.subject != NULL)
        exit_code = cli_check_enumerated(options, search, NULL);
    return exit_code;
}

/* Exchange failures with campaigns on other machines. */
static bool
exchange(const struct cli_check_options *options)
{
    struct cli_corpus_counts counts;

    if (options->corpus == NULL)
        return true;
    if (!cli_corpus_exchange(options->corpus, options->save, ".sim", &counts))
        return false;
    fprintf(stderr,
            "corpus: %" PRIu32 " failures sent, %" PRIu32 " taken, %" PRIu32
            " files ignored\n",
            counts.sent, counts.taken, counts.ignored);
    return true;
}

static enum cli_exit
check_seeds(const struct cli_check_options *options, struct cli_search *found,
            int argc, char **argv)
{
    if (options->shard.count != 0 || options->result != NULL)
        return cli_check_shard(options, found, argc, argv);
    return cli_search_end(options, found, search(options, found));
}

enum cli_exit
cli_check_unbiased(const struct prof_rules *rules, props_set requested,
                   struct cli_report *report)
{
    const struct cli_check_options options = {
        .campaign = {.rules = rules,
                     .requested = requested != 0 ? requested : PROPS_ALL},
        .named = requested != 0,
        .unbiased = true,
        .report = report,
    };
    struct cli_search found = {.reported = 0};

    return cli_search_end(&options, &found,
                          cli_check_enumerated(&options, &found, NULL));
}

enum cli_exit
cli_check(int argc, char **argv)
{
    struct cli_check_options options;
    struct cli_search found = {.reported = 0};
    struct cli_report report;
    enum cli_exit exit_code;

    cli_report_begin(&report, argc, argv);
    if (!cli_check_options(&options, &report, argc, argv, &exit_code))
        return cli_report_drop(&report, exit_code);
    report.inputs = argv;
    report.inputs_count = options.files_count;
    if (options.files_count > 0)
        return cli_report_end(&report, check_files(&options, argv));
    if (options.drawn)
        printf("seeds from %" PRIu64 " on\n", options.campaign.seed_first);
    if (!exchange(&options))
        return cli_report_drop(&report, CLI_USAGE);
    exit_code = check_seeds(&options, &found, argc, argv);
    if (exit_code != CLI_USAGE && !exchange(&options))
        exit_code = CLI_USAGE;
    return cli_report_end(&report, exit_code);
}
