/* check_merge.c -- adds up the shards of a campaign (merge.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/check_command.h"
#include "common/command/complaint.h"
#include "common/escape.h"
#include "props/campaign/failure.h"
#include "common/shard/merge.h"

static struct {
    struct cli_check_options options;
    struct cli_search search;
    struct cli_check_found whole; /* the sums, and what was enumerated */
    struct cli_shard_failure failures[CLI_PART_COUNT]; /* of the first seed */
    uint64_t failed_seeds[CLI_PART_COUNT];
    const char *failed_at[CLI_PART_COUNT]; /* the file with the failure */
} m;

/* ---- The campaign ---- */

/* Do the words name only properties, rules, seeds and a time? Then they make
 * nothing load, read or write a file. */
static bool
is_harmless(char *const *words)
{
    static const char *const options[] = {"--rules", "--seeds", "--time"};

    for (; *words != NULL; words++) {
        const size_t bytes = strcspn(*words, "=");
        bool is_option = false;

        for (int i = 0; i < 3; i++)
            is_option |= strlen(options[i]) == bytes &&
                         memcmp(*words, options[i], bytes) == 0;
        if (!is_option && props_property_find(*words) == PROPS_NONE)
            return false;
        if (is_option && (*words)[bytes] == '\0' && *++words == NULL)
            return false;
    }
    return true;
}

/* Parse the words of the first file, which this same build must have written:
 * seeds are run again. */
static bool
begin(struct cli_merge *merge)
{
    char **words = merge->first.words;
    char build[CLI_BUILD_BYTES];
    struct cli_report unused;
    enum cli_exit exit_code;
    int count = 0;
    bool good;

    while (words[count] != NULL)
        count++;
    if (!cli_shard_build(build))
        return false;
    if (strcmp(build, merge->first.build) != 0)
        return cli_complain("%s: it is of another build of profsim",
                            merge->first.path);
    cli_report_begin(&unused, count, words);
    good = (is_harmless(words + 1) &&
            cli_check_options(&m.options, &unused, count, words, &exit_code)) ||
           cli_complain("%s: not of a campaign of seeds", merge->first.path);
    cli_report_drop(&unused, CLI_OK);
    m.options.report = merge->report;
    if (merge->save != NULL)
        m.options.save = merge->save;
    return good;
}

/* ---- One file ---- */

/* The failure with the first seed counts. */
static void
keep_failure(const struct cli_check_found *found, enum cli_part_kind kind,
             const char *path)
{
    const uint64_t seed = cli_check_next_seed(found, kind);

    if (found->parts[kind].failure.exit_code == CLI_OK ||
        (m.failed_at[kind] != NULL && m.failed_seeds[kind] <= seed))
        return;
    m.failures[kind] = found->parts[kind].failure;
    m.failed_seeds[kind] = seed;
    m.failed_at[kind] = path;
}

bool
cli_check_merge_add(struct cli_merge *merge, struct cli_shard_file *file)
{
    static struct cli_check_found found;

    if ((file == &merge->first && !begin(merge)) ||
        !cli_check_found_read(&found, &m.options, file))
        return false;
    merge->is_done[file->shard.index - 1] =
        cli_check_is_done(&m.options, &found);
    if (found.is_checked) {
        m.whole.checked = found.checked;
        m.whole.checker = found.checker;
        memcpy(m.whole.cells, found.cells, sizeof found.cells);
    }
    for (int i = 0; i < CLI_PART_COUNT; i++) {
        struct cli_part *whole = &m.whole.parts[i];
        const struct cli_part *part = &found.parts[i];

        keep_failure(&found, (enum cli_part_kind)i, file->path);
        whole->runs += part->runs;
        whole->events += part->events;
        whole->hash += part->hash;
        props_coverage_add(&whole->cover, &part->cover);
    }
    return true;
}

/* ---- Failures ---- */

/* Report a seed that failed in its shard but holds here: its runs differ, or
 * one was slow. */
static enum cli_exit
end_unstable(enum cli_part_kind kind)
{
    const struct cli_shard_failure *failure = &m.failures[kind];
    const enum props_property property = (enum props_property)failure->property;
    const struct props_failure reported = {.breach = {.property = property},
                                           .crashed = property == PROPS_NONE};
    const enum cli_exit exit_code = (enum cli_exit)failure->exit_code;
    const uint64_t seed = m.failed_seeds[kind];

    sim_escape_line(stdout, "%s: seed %" PRIu64 " of %s failed, and holds here",
                    m.failed_at[kind], seed, cli_part_name(kind));
    cli_result_seeds(cli_search_failed(&m.options, &m.search, &reported,
                                       kind == CLI_PART_TRACES, exit_code),
                     seed, seed);
    return exit_code;
}

/* The whole campaign would have ended at this seed: run it again. */
static enum cli_exit
end_failure(enum cli_part_kind kind)
{
    const struct cli_shard_failure *claimed = &m.failures[kind];
    const char *path = m.failed_at[kind];
    struct cli_shard_failure found = {.exit_code = CLI_OK};
    struct props_outcome outcome;
    struct props_campaign one;
    enum cli_exit exit_code;

    cli_check_part(&m.options, kind, &one);
    one.seconds = 0;
    one.show_progress = false;
    one.seed_first = one.seed_last = m.failed_seeds[kind];
    if (!props_campaign_run(&one, &outcome))
        return cli_usage("the system refused memory or a process");
    if (outcome.end == PROPS_END_PASSED &&
        (claimed->exit_code == CLI_NONDETERMINISM ||
         claimed->exit_code == CLI_LIVENESS))
        return end_unstable(kind);
    if (outcome.end == PROPS_END_PASSED)
        return cli_usage("%s: seed %" PRIu64 " of %s does not fail", path,
                         one.seed_first, cli_part_name(kind));
    exit_code = cli_check_failed(&m.options, &one, &m.search, &outcome, &found);
    if (exit_code != CLI_USAGE && (found.exit_code != claimed->exit_code ||
                                   found.property != claimed->property))
        return cli_usage("%s: seed %" PRIu64 " of %s does not fail as it says",
                         path, one.seed_first, cli_part_name(kind));
    return exit_code;
}

/* Report what the first shard has enumerated; enumerate a failure again. */
static enum cli_exit
end_checker(void)
{
    const struct cli_shard_failure *claimed = &m.whole.checker;
    struct props_finding worst;
    uint64_t cells = 0;
    enum cli_exit exit_code;

    if (claimed->exit_code != CLI_OK) {
        exit_code = cli_check_enumerated(&m.options, &m.search, &worst);
        if (exit_code != claimed->exit_code ||
            worst.property != claimed->property)
            return cli_usage(
                "%s does not fail as the first shard says",
                props_property_id((enum props_property)claimed->property));
        return exit_code;
    }
    for (int i = 0; i < PROPS_COUNT; i++)
        cells += m.whole.cells[i];
    m.search.checked = m.whole.checked;
    memcpy(m.search.cells, m.whole.cells, sizeof m.search.cells);
    if (cells > 0)
        printf("rules %s: %" PRIu64 " cells enumerated or measured\n",
               m.options.campaign.rules->name, cells);
    return CLI_OK;
}

enum cli_exit
cli_check_merge_end(struct cli_merge *merge)
{
    enum cli_exit exit_code = end_checker();

    for (int i = 0; i < CLI_PART_COUNT; i++) {
        struct props_outcome *outcome =
            i == CLI_PART_HEAPS ? &m.search.heaps : &m.search.traces;
        struct props_campaign part;

        if (exit_code != CLI_OK ||
            !cli_check_part(&m.options, (enum cli_part_kind)i, &part))
            continue;
        cli_check_outcome(&m.whole.parts[i], outcome);
        cli_check_report(stdout, &part, outcome);
        if (m.failed_at[i] != NULL)
            exit_code = end_failure((enum cli_part_kind)i);
    }
    if (exit_code == CLI_USAGE)
        return exit_code;
    m.search.missing = cli_merge_missing(merge) > 0;
    m.search.heaps_done = m.search.traces_done = exit_code == CLI_OK;
    if (exit_code == CLI_OK && m.search.missing)
        exit_code = CLI_INCOMPLETE;
    return cli_search_end(&m.options, &m.search, exit_code);
}
