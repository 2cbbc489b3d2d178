/*
 * check_recording.c -- see check_recording.h. The collector is simulated: what
 * the program itself had in use is `profsim run`'s to say.
 */
#include "check_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "recorded.h"

void
cli_show_progress(uint64_t done, uint64_t total)
{
    if (isatty(STDERR_FILENO) != 0)
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " events, %.0f %%   ", done,
                total, 100.0 * (double)done / (double)total);
}

void
cli_hide_progress(void)
{
    if (isatty(STDERR_FILENO) != 0)
        fprintf(stderr, "\r%60s\r", "");
}

struct sim_recording *
cli_take_recording(struct sim_input *input, const char *path)
{
    struct sim_recording_error error;
    struct sim_recording *recording;
    char line[1024];

    if (!sim_recording_take_input(&recording, input, &error)) {
        sim_recording_explain(&error, path, line, sizeof line);
        cli_usage("%s", line);
    }
    return recording;
}

static enum cli_exit
print_verdicts(const struct props_recorded *result, props_set asked)
{
    const struct props_breach *breach = &result->breach;
    bool all = true;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        const enum props_mark mark = props_property_mark(property);
        const bool broken = (breach->broken & PROPS_BIT(property)) != 0;

        if ((PROPS_OF_TRACES & PROPS_BIT(property)) != 0 ||
            (asked & PROPS_BIT(property)) == 0)
            continue; /* a recording is not traced */
        all &= broken || result->marks.hits[mark] > 0;
        printf("%-4s %-10s %s\n", props_property_id(property),
               broken                         ? "BROKEN"
               : result->marks.hits[mark] > 0 ? "holds"
                                              : "not tried",
               props_property_sentence(property));
    }
    if (!all)
        puts("\nnot tried: this recording has nothing that would test it");
    if (breach->property == PROPS_NONE) {
        puts("\nverdict: every property that was tried holds");
        return CLI_OK;
    }
    printf("\nverdict: %s broken at event %" PRIu32 ": %s\n",
           props_property_id(breach->property), breach->event + 1,
           breach->text);
    return cli_exit_of(breach->property);
}

enum cli_exit
cli_check_recording(const struct sim_recording *recording, const char *path,
                    const struct prof_rules *rules, props_set asked)
{
    struct props_recorded first;
    struct props_recorded result;
    const char *why =
        props_recorded_run(&first, recording, rules, asked, cli_show_progress);

    if (why == NULL)
        why = props_recorded_run(&result, recording, rules, asked,
                                 cli_show_progress);
    cli_hide_progress();
    if (why != NULL)
        return cli_usage("%s: %s", path, why);
    props_mark_hit(&result.marks, MARK_RUN_TWICE);
    if (first.hash != result.hash) {
        result.breach.broken |= PROPS_BIT(PROPS_D1);
        result.breach.property = PROPS_D1;
        snprintf(result.breach.text, sizeof result.breach.text,
                 "two replays gave different answers");
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
    return print_verdicts(&result, asked);
}
