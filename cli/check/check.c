/*
 * check.c -- `profsim check`: saved failures first, then what can be
 * enumerated, then a campaign of seeds.
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "campaign.h"
#include "check.h"
#include "check_recording.h"
#include "check_saved.h"
#include "check_shard.h"
#include "checker.h"
#include "command.h"
#include "escape.h"
#include "failure.h"
#include "failure_page.h"
#include "file_result.h"
#include "generate.h"
#include "prof/file.h"
#include "subject_file.h"

static const char *
name_of(const struct props_campaign *campaign)
{
    return campaign->subject != NULL ? campaign->subject->name
                                     : campaign->rules->name;
}

/* ---- What is enumerated ---- */

enum cli_exit
cli_check_enumerated(const struct cli_check_options *options,
                     struct cli_search *search, struct props_finding *found)
{
    const struct props_campaign *campaign = &options->campaign;
    const struct props_question question = {campaign->rules, campaign->subject,
                                            options->unbiased};
    struct props_finding worst = {.failed = false};
    uint64_t cells = 0;
    char command[CLI_SUBJECT_COMMAND_BYTES];

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        struct props_finding finding;

        if ((campaign->asked & PROPS_BIT(property)) == 0 ||
            (campaign->subject != NULL &&
             !props_applies(property, campaign->subject)) ||
            !props_checker_run(property, &question, &finding))
            continue;
        cells += finding.cells;
        cli_search_checked(options, search, &finding);
        if (campaign->subject != NULL && !finding.failed)
            printf("%s: %s\n", props_property_id(property), finding.text);
        if (props_finding_is_worse(&finding, &worst))
            worst = finding;
    }
    if (cells > 0)
        printf("%s %s: %" PRIu64 " cells enumerated or measured\n",
               campaign->subject != NULL ? "subject" : "rules",
               name_of(campaign), cells);
    if (found != NULL)
        *found = worst;
    if (!worst.failed)
        return CLI_OK;
    printf("%s does not hold: %s\n  %s\n", props_property_id(worst.property),
           options->unbiased ? "sampling is right on average"
                             : props_property_sentence(worst.property),
           worst.text);
    if (campaign->subject != NULL) {
        cli_subject_command(command, sizeof command, "check",
                            options->subject_path);
        printf("replay: %s %s\n", command, props_property_id(worst.property));
    }
    return cli_search_exit(&worst);
}

/* ---- the campaign ---- */

static bool
is_traced(const struct props_campaign *campaign)
{
    return campaign->subject == NULL &&
           props_campaign_worlds(campaign) != SIM_WORLDS_HEAPS;
}

/* Say where a failure is kept and how to see it again; the same in its result.
 */
static void
tell_replay(const struct cli_check_options *options,
            const struct props_failure *failure, const char *name,
            const char *command, struct cli_result *result)
{
    struct sim_error error;
    struct prof_file above;
    char path[PATH_MAX];
    char page[PATH_MAX] = "";
    char replay[CLI_SUBJECT_COMMAND_BYTES];

    if (failure->text != NULL && options->save_above != NULL)
        (void)!prof_file_folder(&above, options->save_above); /* save() tells */
    if (failure->text != NULL &&
        props_failure_save(failure, options->save, name, path, sizeof path,
                           &error)) {
        cli_result_text(options->report, &result->saved, "%s", path);
        cli_subject_command(replay, sizeof replay, "replay",
                            options->subject_path);
        cli_result_replay(options->report, result, replay, path);
        if (cli_failure_write_beside(path, failure->text,
                                     options->campaign.subject, result->replay,
                                     page, sizeof page))
            cli_result_text(options->report, &result->page, "%s", page);
    } else {
        if (failure->text != NULL)
            sim_escape_line(stdout, "not saved: %s", error.text);
        cli_result_replay(options->report, result, command, NULL);
    }
    printf("replay: %s\n", result->replay != NULL ? result->replay : command);
    if (result->page != NULL)
        sim_escape_line(stdout, "page: %s", result->page);
}

/* A seed failed, and made again it holds: say how it failed. */
static void
tell_unstable(struct props_failure *failure,
              const struct props_outcome *outcome)
{
    struct props_breach *breach = &failure->breach;

    if (breach->property != PROPS_D1)
        return;
    if (outcome->differed)
        snprintf(breach->text, sizeof breach->text,
                 "the run was made twice, and did not do the same");
    else if (outcome->signal == SIGALRM)
        snprintf(breach->text, sizeof breach->text,
                 "the run took too long and was ended; made again it does not");
}

static enum cli_exit
exit_of(const struct props_failure *failure,
        const struct props_outcome *outcome)
{
    if (failure->unstable && outcome->signal == SIGALRM)
        return CLI_LIVENESS; /* slow, and not always as slow */
    if (failure->unstable)
        return CLI_NONDETERMINISM;
    if (failure->crashed)
        return failure->signal == SIGALRM ? CLI_LIVENESS : CLI_CRASH;
    return cli_exit_of(failure->breach.property);
}

/* What a result says of it. */
static void
keep_failure(struct cli_shard_failure *kept,
             const struct props_failure *failure, uint64_t seed,
             enum cli_exit exit_code)
{
    const bool is_kept = failure->text != NULL && !failure->unstable &&
                         strlen(failure->text) < CLI_SCENARIO_BYTES;

    if (kept == NULL)
        return;
    *kept = (struct cli_shard_failure){
        .exit_code = exit_code,
        .property = failure->crashed ? PROPS_NONE : failure->breach.property,
        .seed = seed,
        .scenario = is_kept ? strdup(failure->text) : NULL,
    };
}

enum cli_exit
cli_check_failed(const struct cli_check_options *options,
                 const struct props_campaign *campaign,
                 struct cli_search *search, const struct props_outcome *outcome,
                 struct cli_shard_failure *kept)
{
    const uint64_t seed = outcome->seed;
    const bool traced = is_traced(campaign);
    const char *world = traced ? "traced" : name_of(campaign);
    struct props_failure failure;
    struct cli_result *result;
    char begin[CLI_SUBJECT_COMMAND_BYTES];
    char command[CLI_SUBJECT_COMMAND_BYTES + 128];
    char name[128];
    enum cli_exit exit_code;

    cli_subject_command(begin, sizeof begin, "check", options->subject_path);
    snprintf(command, sizeof command, "%s%s%s --seeds %" PRIu64 "..%" PRIu64,
             begin, traced || campaign->subject != NULL ? "" : " --rules ",
             traced || campaign->subject != NULL ? "" : world, seed, seed);
    printf("%s %" PRIu64 " fails\n", traced ? "traced world" : "seed", seed);
    fflush(stdout);
    if (!props_failure_of_seed(&failure, campaign, seed, command))
        return cli_usage("not enough memory to shrink");
    tell_unstable(&failure, outcome);
    props_failure_print(stdout, &failure);
    snprintf(name, sizeof name, "%s-%s-%" PRIu64,
             failure.crashed ? "crash"
                             : props_property_id(failure.breach.property),
             world, seed);
    exit_code = exit_of(&failure, outcome);
    result = cli_search_failed(options, search, &failure, traced, exit_code);
    cli_result_seeds(result, seed, seed);
    tell_replay(options, &failure, name, command, result);
    keep_failure(kept, &failure, seed, exit_code);
    props_failure_free(&failure);
    return exit_code;
}

void
cli_check_tell(FILE *file, const struct props_campaign *campaign,
               const struct props_outcome *outcome)
{
    const bool traced = is_traced(campaign);

    fprintf(file,
            "%s%s: %" PRIu64 " runs, %" PRIu64 " events, log hash %016" PRIx64
            "\n",
            traced                      ? "traces"
            : campaign->subject != NULL ? "subject "
                                        : "rules ",
            traced ? "" : name_of(campaign), outcome->runs, outcome->events,
            outcome->hash);
}

static enum cli_exit
run_campaign(const struct cli_check_options *options,
             const struct props_campaign *campaign, struct cli_search *search)
{
    const bool traced = is_traced(campaign);
    struct props_outcome *outcome = traced ? &search->traces : &search->heaps;

    if (!props_campaign_run(campaign, outcome))
        return cli_usage("the system refused memory or a process");
    /* What ran beside a failure depends on the jobs: no part of the answer. */
    cli_check_tell(outcome->end == PROPS_END_PASSED ? stdout : stderr, campaign,
                   outcome);
    fprintf(stderr, "%.1f s, %.2f million events/s\n", outcome->seconds,
            (double)outcome->events / outcome->seconds / 1e6);
    if (outcome->end != PROPS_END_PASSED)
        return cli_check_failed(options, campaign, search, outcome, NULL);
    *(traced ? &search->traces_done : &search->heaps_done) = true;
    return CLI_OK;
}

bool
cli_check_part(const struct cli_check_options *options, enum cli_part_kind kind,
               struct props_campaign *part)
{
    const props_set asked = options->campaign.asked;
    const bool of_heaps = (asked & ~PROPS_OF_TRACES) != 0;
    const bool of_traces = (asked & PROPS_OF_TRACES) != 0;

    *part = options->campaign;
    if (of_heaps && of_traces)
        part->seconds = (part->seconds + 1) / 2;
    if (kind == CLI_PART_HEAPS)
        return of_heaps;
    if (of_heaps || (asked & PROPS_ACROSS) != 0)
        part->worlds |= SIM_WORLDS_BOTH;
    if (of_heaps || (asked & ~PROPS_ACROSS) != 0)
        part->worlds |= SIM_WORLDS_TRACED;
    return of_traces;
}

/* Heaps alone, then what processors take and a tracer follows, with a heap and
 * without: as far as properties ask for them. */
static enum cli_exit
run_campaigns(const struct cli_check_options *options,
              struct cli_search *search)
{
    enum cli_exit exit_code = CLI_OK;

    if (options->campaign.subject != NULL) {
        struct props_campaign campaign = options->campaign;

        campaign.worlds = SIM_WORLDS_SUBJECT;
        campaign.asked = cli_search_applicable(options, search);
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
    exit_code = cli_check_recording(recording, path, options->campaign.rules,
                                    options->campaign.asked, options->report);
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

/* returns: how to exit, if it is not for what was not tried */
static enum cli_exit
search(const struct cli_check_options *options, struct cli_search *search)
{
    enum cli_exit exit_code = cli_check_saved(options);

    /* Of a subject, what is exact comes first: it says more. */
    if (exit_code == CLI_OK && options->campaign.subject == NULL)
        exit_code = cli_check_enumerated(options, search, NULL);
    if (exit_code == CLI_OK && !options->unbiased)
        exit_code = run_campaigns(options, search);
    if (exit_code == CLI_OK && options->campaign.subject != NULL)
        exit_code = cli_check_enumerated(options, search, NULL);
    return exit_code;
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
    if (options.shard.count != 0 || options.result != NULL)
        return cli_report_end(&report, cli_check_shard(&options, &found));
    exit_code = search(&options, &found);
    return cli_report_end(&report, cli_search_end(&options, &found, exit_code));
}
