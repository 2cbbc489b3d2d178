/* check_search.c -- see check_search.h. */
#include "props/command/check_search.h"

#include <signal.h>
#include <stdio.h>

#include "props/command/check_pairs.h"
#include "props/command/file_result.h"
#include "props/command/subject_file.h"

/* Fewer runs than this may miss a goal by chance. */
#define RUNS_FOR_MARKS 20000

static bool
is_traced(enum props_property property)
{
    return (PROPS_OF_TRACES & PROPS_BIT(property)) != 0;
}

static struct cli_result *
add(const struct cli_check_options *options, const char *name, bool traced,
    enum cli_verdict verdict)
{
    char subject[64];

    if (options->campaign.subject != NULL)
        snprintf(subject, sizeof subject, "subject %.50s",
                 options->campaign.subject->name);
    else
        snprintf(subject, sizeof subject, "rules %s",
                 options->campaign.rules->name);
    return cli_report_add(options->report, traced ? "traces" : subject, name,
                          verdict);
}

static struct cli_result *
add_property(const struct cli_check_options *options,
             enum props_property property, enum cli_verdict verdict)
{
    struct cli_result *result =
        add(options, props_property_id(property), is_traced(property), verdict);

    cli_result_text(options->report, &result->about, "%s",
                    props_property_sentence(property));
    return result;
}

props_set
cli_search_applicable(const struct cli_check_options *options,
                      struct cli_search *search)
{
    const struct subject *subject = options->campaign.subject;
    const char *before = "not applicable, for what the subject lacks: ";
    props_set left = options->campaign.requested;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;

        if ((left & PROPS_BIT(property)) == 0 ||
            props_applies(property, subject))
            continue;
        printf("%s%s", before, props_property_id(property));
        before = ", ";
        left &= ~PROPS_BIT(property);
        search->reported |= PROPS_BIT(property);
        add_property(options, property, CLI_VERDICT_NOT_APPLICABLE);
    }
    if (before[0] == ',')
        putchar('\n');
    return left;
}

enum cli_exit
cli_search_exit(const struct props_finding *finding)
{
    if (finding->signal == SIGALRM)
        return CLI_LIVENESS;
    return finding->signal != 0 ? CLI_CRASH : CLI_BROKEN;
}

void
cli_search_checked(const struct cli_check_options *options,
                   struct cli_search *search,
                   const struct props_finding *finding)
{
    const char *id = props_property_id(finding->property);
    struct cli_result *result;
    char begin[CLI_SUBJECT_COMMAND_BYTES];
    char command[CLI_SUBJECT_COMMAND_BYTES + 128];

    search->cells[finding->property] = finding->cells;
    search->checked |= PROPS_BIT(finding->property);
    if (finding->unjudged)
        search->unjudged |= PROPS_BIT(finding->property);
    else if (!finding->failed)
        return;
    search->reported |= PROPS_BIT(finding->property);
    result =
        add_property(options, finding->property,
                     finding->failed ? cli_verdict_of(cli_search_exit(finding))
                                     : CLI_VERDICT_INCOMPLETE);
    cli_result_text(options->report, &result->text, "%s", finding->text);
    cli_result_count(result, "cells", finding->cells);
    cli_subject_command(begin, sizeof begin, "check", options->subject_path);
    if (options->campaign.subject != NULL)
        snprintf(command, sizeof command, "%s %s", begin, id);
    else
        snprintf(command, sizeof command, "%s %s --rules %s",
                 options->unbiased ? "profsim bias --verify" : begin, id,
                 options->campaign.rules->name);
    cli_result_replay(options->report, result, command, NULL);
}

struct cli_result *
cli_search_failed(const struct cli_check_options *options,
                  struct cli_search *search,
                  const struct props_failure *failure, bool traced,
                  enum cli_exit exit_code)
{
    const enum props_property property = failure->breach.property;
    const enum cli_verdict verdict = cli_verdict_of(exit_code);
    struct cli_result *result;

    if (failure->crashed || property == PROPS_NONE) {
        result = add(options, "process", traced, verdict);
    } else {
        result = add_property(options, property, verdict);
        cli_result_text(options->report, &result->text, "%s",
                        failure->breach.text);
        search->reported |= PROPS_BIT(property);
    }
    cli_result_count(result, "events", failure->events_after);
    cli_result_count(result, "events_before", failure->events_before);
    cli_result_count(result, "choices", failure->choices_after);
    cli_result_count(result, "choices_before", failure->choices_before);
    return result;
}

/* ---- what was not tried ---- */

/* Was the property asked for, but never put to the test? */
static bool
is_unmet(const struct cli_check_options *options,
         const struct cli_search *search, const struct props_coverage *cover,
         enum props_property property)
{
    const struct subject *subject = options->campaign.subject;

    if ((search->unjudged & PROPS_BIT(property)) != 0)
        return true;
    if (subject != NULL && !props_applies(property, subject))
        return options->named &&
               (options->campaign.requested & PROPS_BIT(property)) != 0;
    return (options->campaign.requested & PROPS_BIT(property)) != 0 &&
           cover->hits[props_property_cover(property)] == 0 &&
           !props_checker_exists(property);
}

/* Were there enough runs of each kind of worlds to reach every goal? A campaign
 * with a time limit may have many runs of heaps and few of traces. */
static bool
is_long(const struct cli_search *search)
{
    const uint64_t heaps = search->heaps.runs;
    const uint64_t traces = search->traces.runs;

    return (heaps >= RUNS_FOR_MARKS || heaps == 0) &&
           (traces >= RUNS_FOR_MARKS || traces == 0) && heaps + traces > 0;
}

/* returns: false if a property that should have been tried was not */
static bool
print_verdict(const struct cli_check_options *options,
              const struct cli_search *search,
              const struct props_coverage *cover)
{
    const char *before = "every property that was tried holds; not tried: ";

    for (int i = 0; i < PROPS_COUNT; i++) {
        if (!is_unmet(options, search, cover, (enum props_property)i))
            continue;
        printf("%s%s", before, props_property_id((enum props_property)i));
        before = ", ";
    }
    if (before[0] == ',') {
        putchar('\n');
        return !options->named && !is_long(search) && search->unjudged == 0;
    }
    puts("every property holds");
    return true;
}

/* returns: false if a goal was missed that should have been reached */
static bool
print_cover(const struct cli_check_options *options,
            const struct cli_search *search, const struct props_coverage *cover)
{
    bool all = true;

    if (!is_long(search) || options->campaign.requested != PROPS_ALL)
        return true;
    for (int i = 0; i < COVER_OF_LIBRARY; i++) {
        const char *id = props_cover_id((enum props_cover)i);
        const char *text = props_cover_text((enum props_cover)i);
        struct cli_result *result;

        if (cover->hits[i] > 0 ||
            !props_cover_can((enum props_cover)i, options->campaign.rules))
            continue;
        printf("never reached: %s (%s)\n", id, text);
        result = cli_report_add(options->report, "coverage", id,
                                CLI_VERDICT_INCOMPLETE);
        cli_result_text(options->report, &result->text, "never reached: %s",
                        text);
        all = false;
    }
    return all;
}

/* returns: false if a property that was named is not about sampling */
static bool
print_unbiased(const struct cli_check_options *options,
               const struct cli_search *search)
{
    puts(search->checked != 0 ? "sampling is right on average"
                              : "none of these properties is about sampling");
    return !options->named || options->campaign.requested == search->checked;
}

/* ---- the report ---- */

static enum cli_verdict
verdict_of(const struct cli_check_options *options,
           const struct cli_search *search, enum props_property property)
{
    const struct props_outcome *outcome =
        is_traced(property) ? &search->traces : &search->heaps;

    if ((search->checked & PROPS_BIT(property)) != 0)
        return CLI_VERDICT_HOLDS;
    if (options->unbiased)
        return options->named ? CLI_VERDICT_INCOMPLETE
                              : CLI_VERDICT_NOT_APPLICABLE;
    if (!(is_traced(property) ? search->traces_done : search->heaps_done))
        return CLI_VERDICT_STOPPED;
    if (outcome->cover.hits[props_property_cover(property)] > 0)
        return search->missing ? CLI_VERDICT_INCOMPLETE : CLI_VERDICT_HOLDS;
    return options->named || is_long(search) ? CLI_VERDICT_INCOMPLETE
                                             : CLI_VERDICT_NOT_TRIED;
}

static void
add_results(const struct cli_check_options *options,
            const struct cli_search *search)
{
    const props_set left = options->campaign.requested & ~search->reported;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        const bool traced = is_traced(property);
        const struct props_outcome *outcome =
            traced ? &search->traces : &search->heaps;
        struct cli_result *result;

        if ((left & PROPS_BIT(property)) == 0)
            continue;
        result = add_property(options, property,
                              verdict_of(options, search, property));
        if ((search->checked & PROPS_BIT(property)) != 0)
            cli_result_count(result, "cells", search->cells[property]);
        if (!(traced ? search->traces_done : search->heaps_done))
            continue;
        cli_result_count(result, "runs", outcome->runs);
        cli_result_count(result, "events", outcome->events);
        cli_result_count(result, "tried",
                         outcome->cover.hits[props_property_cover(property)]);
        if (options->campaign.seconds == 0)
            cli_result_seeds(result, options->campaign.seed_first,
                             options->campaign.seed_last);
    }
}

enum cli_exit
cli_search_end(const struct cli_check_options *options,
               struct cli_search *search, enum cli_exit exit_code)
{
    struct props_coverage cover = search->heaps.cover;
    struct props_pairs pairs = search->heaps.pairs;
    bool complete = true;

    props_coverage_add(&cover, &search->traces.cover);
    if (exit_code == CLI_OK && options->unbiased) {
        complete = print_unbiased(options, search);
    } else if (exit_code == CLI_OK) {
        complete = print_cover(options, search, &cover);
        complete = print_verdict(options, search, &cover) && complete;
        props_pairs_add(&pairs, &search->traces.pairs);
        if (options->pairs)
            complete = cli_check_pairs(options->report, &pairs) && complete;
    }
    add_results(options, search);
    return complete ? exit_code : CLI_INCOMPLETE;
}
