/*
 * check.c -- `profsim check`: saved failures first, then what can be
 * enumerated, then a campaign of seeds.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "check_options.h"
#include "check_recording.h"
#include "checker.h"
#include "command.h"
#include "escape.h"
#include "failure.h"
#include "replay.h"
#include "sched_campaign.h"
#include "schedule.h"

/* Fewer runs than this may miss a mark by chance. */
#define RUNS_FOR_MARKS 20000

/* ------------------------------------------------------------ saved failures
 */

static int
is_scenario(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(&entry->d_name[length - 4], ".sim") == 0;
}

/*
 * Replay one; a file that cannot be read is a failure too. What other rules
 * break says nothing about the rules that are asked about.
 */
static enum cli_exit
replay_saved(const struct cli_check_options *options, const char *name)
{
    struct props_replay replay;
    struct sim_scenario *scenario;
    struct sim_input input;
    struct sim_error error;
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", options->save, name) >=
        (int)sizeof path)
        return cli_usage("%s: File name too long", options->save);
    if (!sim_input_read_regular(&input, path))
        return cli_usage("%s: %s", path, input.reason);
    if (input.kind == SIM_INPUT_SCHEDULE) {
        const enum cli_exit exit_code = cli_schedule_replay(&input, path);

        sim_input_free(&input);
        return exit_code;
    }
    scenario = sim_scenario_parse((const char *)input.bytes, input.bytes_count,
                                  path, &error);
    sim_input_free(&input);
    if (scenario == NULL) {
        return cli_usage("%s", error.text);
    }
    if (scenario->config.rules != options->campaign.rules) {
        sim_escape_line(stdout, "%s: rules %s, left alone", path,
                        scenario->config.rules->name);
        sim_scenario_free(scenario);
        return CLI_OK;
    }
    if (!props_replay_run(&replay, scenario, options->campaign.asked)) {
        sim_scenario_free(scenario);
        return cli_usage("not enough memory");
    }
    sim_scenario_free(scenario);
    if (replay.crashed)
        return cli_crash(path, replay.signal);
    if (replay.refused) {
        return cli_usage("%s", replay.error.text);
    }
    if (replay.breach.property == PROPS_NONE) {
        sim_escape_line(stdout, "%s: passes now; it may be deleted", path);
        return CLI_OK;
    }
    sim_escape_line(stdout, "%s: %s is still broken: %s", path,
                    props_property_id(replay.breach.property),
                    replay.breach.text);
    return cli_exit_of(replay.breach.property);
}

static enum cli_exit
replay_all_saved(const struct cli_check_options *options)
{
    struct dirent **names;
    const int count = scandir(options->save, &names, is_scenario, alphasort);
    enum cli_exit exit_code = CLI_OK;

    if (count < 0 && errno != ENOENT)
        return cli_usage("%s: saved failures cannot be read: %s", options->save,
                         strerror(errno));
    for (int i = 0; i < count; i++) {
        if (exit_code == CLI_OK) {
            exit_code = replay_saved(options, names[i]->d_name);
            if (exit_code != CLI_OK && exit_code != CLI_USAGE) {
                sim_escape_line(stdout, "replay: profsim replay %s/%s",
                                options->save, names[i]->d_name);
                puts("A saved failure comes first; delete it to search on.");
            }
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return exit_code;
}

/* ----------------------------------------------------------- what is
 * enumerated
 */

static enum cli_exit
run_checkers(const struct cli_check_options *options)
{
    const struct props_question question = {options->campaign.rules,
                                            options->unbiased};
    struct props_finding worst = {.failed = false};
    uint64_t cells = 0;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        struct props_finding finding;

        if ((options->campaign.asked & PROPS_BIT(property)) == 0 ||
            !props_checker_run(property, &question, &finding))
            continue;
        cells += finding.cells;
        if (props_finding_is_worse(&finding, &worst))
            worst = finding;
    }
    if (cells > 0)
        printf("rules %s: %" PRIu64 " cells enumerated or measured\n",
               question.rules->name, cells);
    if (!worst.failed)
        return CLI_OK;
    printf("%s does not hold: %s\n  %s\n", props_property_id(worst.property),
           options->unbiased ? "sampling is right on average"
                             : props_property_sentence(worst.property),
           worst.text);
    return CLI_BROKEN;
}

/* --------------------------------------------------------------- the campaign
 */

/* Was the property asked for and never put to the test? */
static bool
is_unmet(const struct cli_check_options *options,
         const struct props_outcome *outcome, enum props_property property)
{
    return (options->campaign.asked & PROPS_BIT(property)) != 0 &&
           outcome->marks.hits[props_property_mark(property)] == 0 &&
           !props_checker_exists(property);
}

/* returns: false if what was not tried should have been */
static bool
print_verdict(const struct cli_check_options *options,
              const struct props_outcome *outcome)
{
    const char *before = "every property that was tried holds; not tried: ";

    for (int i = 0; i < PROPS_COUNT; i++) {
        if (!is_unmet(options, outcome, (enum props_property)i))
            continue;
        printf("%s%s", before, props_property_id((enum props_property)i));
        before = ", ";
    }
    if (before[0] == ',') {
        putchar('\n');
        return !options->named && outcome->runs < RUNS_FOR_MARKS;
    }
    puts("every property holds");
    return true;
}

/* returns: false if a mark was missed and that means something */
static bool
print_marks(const struct cli_check_options *options,
            const struct props_outcome *outcome)
{
    const props_set asked = options->campaign.asked;
    bool all = true;

    if (outcome->runs < RUNS_FOR_MARKS || asked != PROPS_ALL)
        return true;
    for (int i = 0; i < MARK_COUNT; i++) {
        if (outcome->marks.hits[i] == 0) {
            printf("never reached: %s (%s)\n",
                   props_mark_id((enum props_mark)i),
                   props_mark_text((enum props_mark)i));
            all = false;
        }
    }
    return all;
}

/* Shrink what a seed shows, tell it and keep it. */
static enum cli_exit
report_failure(const struct props_campaign *campaign, const char *save,
               uint64_t seed)
{
    const bool traced = campaign->kind == &props_traced;
    const char *world = traced ? "traced" : campaign->rules->name;
    struct props_failure failure;
    struct sim_error error;
    char command[256];
    char name[64];
    char path[PATH_MAX];
    enum cli_exit exit_code;

    snprintf(command, sizeof command,
             "profsim check%s%s --seeds %" PRIu64 "..%" PRIu64,
             traced ? "" : " --rules ", traced ? "" : world, seed, seed);
    printf("%s %" PRIu64 " fails\n", traced ? "traced world" : "seed", seed);
    fflush(stdout);
    if (!props_failure_of_seed(&failure, campaign, seed, command))
        return cli_usage("not enough memory to shrink");
    props_failure_print(stdout, &failure);
    snprintf(name, sizeof name, "%s-%s-%" PRIu64,
             failure.crashed ? "crash"
                             : props_property_id(failure.breach.property),
             world, seed);
    if (failure.text == NULL)
        printf("replay: %s\n", command);
    else if (props_failure_save(&failure, save, name, path, sizeof path,
                                &error))
        sim_escape_line(stdout, "replay: profsim replay %s", path);
    else {
        sim_escape_line(stdout, "not saved: %s", error.text);
        printf("replay: %s\n", command);
    }
    exit_code = cli_exit_of(failure.breach.property);
    if (failure.crashed)
        exit_code = failure.signal == SIGALRM ? CLI_LIVENESS : CLI_CRASH;
    if (failure.unstable)
        exit_code = CLI_NONDETERMINISM;
    props_failure_free(&failure);
    return exit_code;
}

static enum cli_exit
run_campaign(const struct props_campaign *campaign, const char *save,
             struct props_outcome *outcome)
{
    const bool traced = campaign->kind == &props_traced;

    if (!props_campaign_run(campaign, outcome))
        return cli_usage("the system refused memory or a process");
    /* What ran beside a failure depends on the jobs: no part of the answer. */
    fprintf(outcome->end == PROPS_END_PASSED ? stdout : stderr,
            "%s%s: %" PRIu64 " runs, %" PRIu64 " events, log hash %016" PRIx64
            "\n",
            traced ? "traces" : "rules ", traced ? "" : campaign->rules->name,
            outcome->runs, outcome->events, outcome->hash);
    fprintf(stderr, "%.1f s, %.2f million events/s\n", outcome->seconds,
            (double)outcome->events / outcome->seconds / 1e6);
    if (outcome->end != PROPS_END_PASSED)
        return report_failure(campaign, save, outcome->seed);
    return CLI_OK;
}

/* Worlds of heaps, then traced worlds, as far as properties ask for them. */
static enum cli_exit
run_campaigns(const struct cli_check_options *options,
              struct props_outcome *outcome)
{
    const props_set asked = options->campaign.asked;
    const bool both =
        (asked & PROPS_OF_TRACES) != 0 && (asked & ~PROPS_OF_TRACES) != 0;
    struct props_campaign half = options->campaign; /* of the time, if two */
    struct props_outcome traced;
    enum cli_exit exit_code;

    half.seconds = (options->campaign.seconds + both) / (1 + both);
    memset(outcome, 0, sizeof *outcome);
    if ((asked & ~PROPS_OF_TRACES) != 0) {
        exit_code = run_campaign(&half, options->save, outcome);
        if (exit_code != CLI_OK)
            return exit_code;
    }
    if ((asked & PROPS_OF_TRACES) == 0)
        return CLI_OK;
    half.kind = &props_traced;
    exit_code = run_campaign(&half, options->save, &traced);
    props_marks_add(&outcome->marks, &traced.marks);
    if (outcome->runs == 0)
        outcome->runs = traced.runs;
    return exit_code;
}

/* ---------------------------------------------------------------- files */

static enum cli_exit
check_file(const struct cli_check_options *options, const char *path)
{
    struct sim_recording *recording = NULL;
    struct sim_input input;
    enum cli_exit exit_code = CLI_USAGE;

    if (!sim_input_read(&input, path))
        return cli_usage("%s: %s", path, input.reason);
    if (input.kind != SIM_INPUT_RECORDING)
        exit_code = cli_replay_input(&input, path);
    else
        recording = cli_take_recording(&input, path);
    if (recording != NULL)
        exit_code = cli_check_recording(
            recording, path, options->campaign.rules, options->campaign.asked);
    sim_recording_close(recording);
    sim_input_free(&input);
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

enum cli_exit
cli_check(int argc, char **argv)
{
    struct cli_check_options options;
    struct props_outcome outcome;
    enum cli_exit saved;
    enum cli_exit checked;
    bool complete;

    if (!cli_check_options(&options, argc, argv, &saved))
        return saved;
    if (options.files_count > 0)
        return check_files(&options, argv);
    saved = replay_all_saved(&options);
    if (saved != CLI_OK)
        return saved;
    checked = run_checkers(&options);
    if (checked != CLI_OK)
        return checked;
    if (options.unbiased) {
        printf("sampling is right on average\n");
        return CLI_OK;
    }
    checked = run_campaigns(&options, &outcome);
    if (checked != CLI_OK)
        return checked;
    complete = print_marks(&options, &outcome);
    complete = print_verdict(&options, &outcome) && complete;
    return complete ? CLI_OK : CLI_INCOMPLETE;
}
