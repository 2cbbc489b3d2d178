/* check_part.c -- one campaign of a search: what it runs, and how it ended. */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "props/campaign/campaign.h"
#include "props/command/check_command.h"
#include "props/sampling/checker.h"
#include "props/command/commands.h"
#include "common/escape.h"
#include "props/campaign/failure.h"
#include "props/page/failure_page.h"
#include "props/command/file_result.h"
#include "sim/generate/generate.h"
#include "prof/file.h"
#include "props/command/subject_file.h"

static const char *
name_of(const struct props_campaign *campaign)
{
    return campaign->subject != NULL ? campaign->subject->name
                                     : campaign->rules->name;
}

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

        if ((campaign->requested & PROPS_BIT(property)) == 0 ||
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

bool
cli_check_is_traced(const struct props_campaign *campaign)
{
    return campaign->subject == NULL &&
           props_campaign_worlds(campaign) != SIM_WORLDS_HEAPS;
}

/* Print where a failure is saved and the command that replays it, and add both
 * to its result. */
static void
report_replay(const struct cli_check_options *options,
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

/* A seed failed, and holds when its run is repeated: describe how it failed. */
static void
report_unstable(struct props_failure *failure,
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

enum cli_exit
cli_check_failed(const struct cli_check_options *options,
                 const struct props_campaign *campaign,
                 struct cli_search *search, const struct props_outcome *outcome,
                 struct cli_shard_failure *kept)
{
    const uint64_t seed = outcome->seed;
    const bool traced = cli_check_is_traced(campaign);
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
    report_unstable(&failure, outcome);
    props_failure_print(stdout, &failure);
    snprintf(name, sizeof name, "%s-%s-%" PRIu64,
             failure.crashed ? "crash"
                             : props_property_id(failure.breach.property),
             world, seed);
    exit_code = exit_of(&failure, outcome);
    result = cli_search_failed(options, search, &failure, traced, exit_code);
    cli_result_seeds(result, seed, seed);
    report_replay(options, &failure, name, command, result);
    if (kept != NULL)
        *kept = (struct cli_shard_failure){
            exit_code, failure.crashed ? PROPS_NONE : failure.breach.property};
    props_failure_free(&failure);
    return exit_code;
}

void
cli_check_report(FILE *file, const struct props_campaign *campaign,
                 const struct props_outcome *outcome)
{
    const bool traced = cli_check_is_traced(campaign);

    fprintf(file,
            "%s%s: %" PRIu64 " runs, %" PRIu64 " events, log hash %016" PRIx64
            "\n",
            traced                      ? "traces"
            : campaign->subject != NULL ? "subject "
                                        : "rules ",
            traced ? "" : name_of(campaign), outcome->runs, outcome->events,
            outcome->hash);
}

bool
cli_check_part(const struct cli_check_options *options, enum cli_part_kind kind,
               struct props_campaign *part)
{
    const props_set requested = options->campaign.requested;
    const bool of_heaps = (requested & ~PROPS_OF_TRACES) != 0;
    const bool of_traces = (requested & PROPS_OF_TRACES) != 0;

    *part = options->campaign;
    if (of_heaps && of_traces)
        part->seconds = (part->seconds + 1) / 2;
    if (kind == CLI_PART_HEAPS)
        return of_heaps;
    if (of_heaps || (requested & PROPS_ACROSS) != 0)
        part->worlds |= SIM_WORLDS_BOTH;
    if (of_heaps || (requested & ~PROPS_ACROSS) != 0)
        part->worlds |= SIM_WORLDS_TRACED;
    return of_traces;
}
