/*
 * check_recording.c -- see check_recording.h. The collector is simulated, so
 * the verdicts do not show what the program itself had in use; `profsim show`
 * shows that.
 */
#include "props/command/check_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "props/command/file_result.h"
#include "props/judge/recorded.h"

/* The properties to judge, the recording to judge them on, and the report that
 * gets the verdicts. */
struct question {
    const char *path;
    const struct prof_rules *rules;
    props_set requested;
    struct cli_report *report;
};

static enum cli_verdict
verdict_of(const struct question *question, const struct props_recorded *result,
           enum props_property property)
{
    const bool named = question->requested != PROPS_ALL;

    if ((result->breach.broken & PROPS_BIT(property)) != 0)
        return cli_verdict_of(cli_exit_of(property));
    if (result->cover.hits[props_property_cover(property)] > 0)
        return CLI_VERDICT_HOLDS;
    if (named)
        return CLI_VERDICT_INCOMPLETE;
    return (PROPS_OF_TRACES & PROPS_BIT(property)) != 0
               ? CLI_VERDICT_NOT_APPLICABLE /* a recording is not traced */
               : CLI_VERDICT_NOT_TRIED;
}

static void
add_result(const struct question *question, const struct props_recorded *result,
           enum props_property property, enum cli_verdict verdict)
{
    struct cli_result *added = cli_report_add(
        question->report, question->path, props_property_id(property), verdict);

    cli_result_text(question->report, &added->about, "%s",
                    props_property_sentence(property));
    cli_result_count(added, "events", result->events);
    cli_result_count(added, "tried",
                     result->cover.hits[props_property_cover(property)]);
    if (cli_verdict_kind(verdict) == CLI_SKIPPED ||
        verdict == CLI_VERDICT_INCOMPLETE)
        cli_result_text(question->report, &added->text,
                        "this recording has nothing that would test it");
    if (cli_verdict_kind(verdict) != CLI_FAILED)
        return;
    cli_result_text(question->report, &added->text, "event %" PRIu32 ": %s",
                    result->breach.event + 1, result->breach.text);
    if (strcmp(question->path, "-") != 0) {
        char command[64];

        snprintf(command, sizeof command, "profsim check %s --rules %s",
                 props_property_id(property), question->rules->name);
        cli_result_replay(question->report, added, command, question->path);
    }
}

static enum cli_exit
print_verdicts(const struct question *question,
               const struct props_recorded *result)
{
    const struct props_breach *breach = &result->breach;
    uint64_t untried = 0;
    bool complete = true;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        const enum cli_verdict verdict = verdict_of(question, result, property);

        if ((question->requested & PROPS_BIT(property)) == 0)
            continue;
        add_result(question, result, property, verdict);
        complete &= verdict != CLI_VERDICT_INCOMPLETE;
        if (verdict == CLI_VERDICT_NOT_APPLICABLE)
            continue;
        untried += cli_verdict_kind(verdict) != CLI_FAILED &&
                   verdict != CLI_VERDICT_HOLDS;
        printf("%-4s %-10s %s\n", props_property_id(property),
               cli_verdict_kind(verdict) == CLI_FAILED ? "BROKEN"
               : verdict == CLI_VERDICT_HOLDS          ? "holds"
                                                       : "not tried",
               props_property_sentence(property));
    }
    if (untried > 0)
        puts("\nnot tried: this recording has nothing that would test it");
    if (breach->property != PROPS_NONE) {
        printf("\nverdict: %s broken at event %" PRIu32 ": %s\n",
               props_property_id(breach->property), breach->event + 1,
               breach->text);
        return cli_exit_of(breach->property);
    }
    puts(complete ? "\nverdict: every property that was tried holds"
                  : "\nverdict: not all that was asked was tried");
    return complete ? CLI_OK : CLI_INCOMPLETE;
}

enum cli_exit
cli_check_recording(const struct sim_recording *recording, const char *path,
                    const struct prof_rules *rules, props_set requested,
                    struct cli_report *report)
{
    const struct question question = {path, rules, requested, report};
    struct props_recorded first;
    struct props_recorded result;
    const char *why = props_recorded_run(&first, recording, rules, requested,
                                         cli_show_progress);

    if (why == NULL)
        why = props_recorded_run(&result, recording, rules, requested,
                                 cli_show_progress);
    cli_hide_progress();
    if (why != NULL)
        return cli_usage("%s: %s", path, why);
    props_cover_hit(&result.cover, COVER_RUN_TWICE);
    if (first.hash != result.hash) {
        result.breach.broken |= PROPS_BIT(PROPS_D1);
        result.breach.property = PROPS_D1;
        snprintf(result.breach.text, sizeof result.breach.text,
                 "two replays gave different results");
    }
    sim_escape_line(stdout,
                    "%s under a simulated collector: %" PRIu64
                    " recorded events, %" PRIu64 " world events, %" PRIu32
                    " collections, %" PRIu64 " snapshots, %" PRIu64 " buckets",
                    path, result.recorded_events, result.events,
                    result.collections, result.snapshots, result.buckets);
    printf("rules %s, log hash %016" PRIx64 "\n", rules->name, result.hash);
    if (result.unpaired_releases > 0)
        printf("%" PRIu64 " releases not replayed: no wait that was recorded "
               "belongs to them\n",
               result.unpaired_releases);
    putchar('\n');
    return print_verdicts(&question, &result);
}
