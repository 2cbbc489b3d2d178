/* check_merge.c -- see check_merge.h. */
#include "check_merge.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_shard.h"
#include "complaint.h"
#include "escape.h"
#include "failure.h"
#include "file_result.h"
#include "missing.h"

enum { WORDS_MAX = CLI_ASKED_BYTES / 2 }; /* with a space between two */

/* What is kept of each shard. Its sums are added to `whole`. */
struct seen {
    const char *path[CLI_PART_COUNT]; /* of the largest; NULL: none */
    uint64_t runs[CLI_PART_COUNT];
    uint64_t events[CLI_PART_COUNT];
    uint64_t hash[CLI_PART_COUNT];
    bool failed[CLI_PART_COUNT]; /* at the seed after these runs */
    bool is_done; /* one file says so, or each part's file does */
};

struct merge {
    struct cli_check_options options;
    struct cli_search search;
    struct cli_shard_result whole; /* the sums, and each part's first failure */
    struct cli_report asked_report;
    const char *failed_at[CLI_PART_COUNT]; /* the file with the failure */
    struct seen *shards; /* NULL: no file has begun the campaign */
    bool differs;        /* the same seeds did different things */
};

/* ---- What was asked ---- */

/* Does a file ask only for options that cannot load, read or write anything? */
static bool
is_harmless(char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        const bool option = strcmp(words[i], "--rules") == 0 ||
                            strcmp(words[i], "--seeds") == 0 ||
                            strcmp(words[i], "--time") == 0;

        if (!option && props_property_find(words[i]) == PROPS_NONE)
            return false;
        i += option;
    }
    return true;
}

/* Parse the words that a file asks for into options. */
static bool
take_asked(struct merge *m, const char *asked, const char *path)
{
    static char text[CLI_ASKED_BYTES];
    char again[CLI_ASKED_BYTES];
    char *words[WORDS_MAX];
    char *rest;
    int count = 0;
    enum cli_exit unused;

    snprintf(text, sizeof text, "%s", asked);
    for (char *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    if (count == 0 || strcmp(words[0], "check") != 0 ||
        !is_harmless(&words[1], count - 1) ||
        !cli_check_options(&m->options, &m->asked_report, count, words,
                           &unused) ||
        !cli_check_asked(&m->options, again) || strcmp(again, asked) != 0)
        return cli_complain("%s: 'asked %s' is not a command of profsim", path,
                            asked);
    return true;
}

/* ---- One file ---- */

/* Take the campaign from the first file, which this same build must have
 * written. */
static bool
begin(struct merge *m, const struct cli_shard_result *r, const char *path)
{
    const char *save = m->options.save;
    struct cli_report *report = m->options.report;

    if (!cli_shard_result_begin(&m->whole, r->asked, r->shard) ||
        !cli_shard_result_fits(&m->whole, r, path) ||
        !take_asked(m, r->asked, path))
        return false;
    m->options.report = report;
    if (save != NULL)
        m->options.save = save;
    m->whole.seed_step = m->options.drawn ? 1 : r->shard.count;
    m->shards = calloc(r->shard.count, sizeof *m->shards);
    return m->shards != NULL || cli_complain("not enough memory");
}

static bool
is_sound_part(const struct merge *m, const struct cli_shard_result *r, int i)
{
    const struct cli_part *part = &r->parts[i];
    const uint64_t step = m->whole.seed_step;
    const uint64_t first = m->options.campaign.seed_first + r->shard.index - 1;
    const uint64_t last = m->options.campaign.seed_last;
    const bool failed = part->failure.exit_code != CLI_OK;
    struct props_campaign unused;
    uint64_t most;

    if (part->runs == 0 && !failed)
        return true;
    if (!cli_check_part(&m->options, (enum cli_part_kind)i, &unused))
        return false;
    if (m->options.drawn)
        return part->runs == 0 || !failed ||
               part->failure.seed == part->seed_first + part->runs;
    if (first > last || first < m->options.campaign.seed_first)
        return false;
    most = (last - first) / step + 1;
    return (part->runs == 0 || part->seed_first == first) &&
           part->runs <= most - failed &&
           (!failed || part->failure.seed == first + part->runs * step);
}

/* Could a shard have written this file? */
static bool
is_sound(const struct merge *m, const struct cli_shard_result *r,
         const char *path)
{
    if (r->seed_step != 0 && r->seed_step != m->whole.seed_step)
        return cli_complain("%s: the seeds are not those of its shard", path);
    if ((r->is_checked && r->shard.index != 1) ||
        (r->checked & ~m->options.campaign.asked) != 0 ||
        r->checker.scenario != NULL ||
        (r->checker.exit_code != CLI_OK &&
         (r->checker.property == PROPS_NONE ||
          (m->options.campaign.asked & PROPS_BIT(r->checker.property)) == 0)))
        return cli_complain("%s: it claims enumerated properties that its "
                            "shard does not check",
                            path);
    for (int i = 0; i < CLI_PART_COUNT; i++) {
        if (!is_sound_part(m, r, i))
            return cli_complain("%s: the seeds of %s are not those of its "
                                "shard",
                                path, cli_part_name((enum cli_part_kind)i));
    }
    return true;
}

static void
add_part(struct cli_part *whole, const struct cli_part *part, bool subtract)
{
    const uint64_t sign = subtract ? UINT64_MAX : 1;

    whole->runs += sign * part->runs;
    whole->events += sign * part->events;
    whole->hash += sign * part->hash;
    for (int i = 0; i < COVER_COUNT; i++)
        whole->cover.hits[i] += sign * part->cover.hits[i];
}

/* Subtract the sums of a smaller file of this shard, which a larger one
 * replaces. */
static bool
take_out(struct merge *m, const struct seen *seen, int i)
{
    struct cli_shard_result old;
    bool same;

    if (cli_shard_result_read(&old, seen->path[i]) != CLI_SHARD_READ)
        return cli_complain("%s: it has changed meanwhile", seen->path[i]);
    same = old.parts[i].runs == seen->runs[i] &&
           old.parts[i].hash == seen->hash[i];
    if (same)
        add_part(&m->whole.parts[i], &old.parts[i], true);
    cli_shard_result_free(&old);
    return same || cli_complain("%s: it has changed meanwhile", seen->path[i]);
}

/* Does a file of a shard contradict another one? Both have run the same seeds,
 * unless they were drawn. */
static bool
differs(const struct seen *seen, const struct cli_part *part, int i)
{
    const bool failed = part->failure.exit_code != CLI_OK;

    if (part->runs == seen->runs[i])
        return part->events != seen->events[i] || part->hash != seen->hash[i];
    return part->runs < seen->runs[i] ? failed : seen->failed[i];
}

/* The failure with the first seed counts, even if another file of its shard has
 * more runs. */
static void
keep_failure(struct merge *m, struct cli_part *part, int i, const char *path)
{
    struct cli_shard_failure *kept = &m->whole.parts[i].failure;

    if (part->failure.exit_code == CLI_OK ||
        (kept->exit_code != CLI_OK && kept->seed <= part->failure.seed))
        return;
    free(kept->scenario);
    *kept = part->failure;
    part->failure.scenario = NULL;
    m->failed_at[i] = path;
}

static bool
add_one(struct merge *m, struct cli_shard_result *r, int i, const char *path)
{
    struct cli_part *part = &r->parts[i];
    struct seen *seen = &m->shards[r->shard.index - 1];
    const bool failed = part->failure.exit_code != CLI_OK;

    if (seen->path[i] != NULL && !m->options.drawn && differs(seen, part, i)) {
        sim_escape_line(stdout,
                        "%s and %s: the same seeds did different things",
                        seen->path[i], path);
        m->differs = true;
        return true;
    }
    keep_failure(m, part, i, path);
    seen->failed[i] |= failed;
    if (seen->path[i] != NULL && part->runs <= seen->runs[i])
        return true;
    if (seen->path[i] != NULL && !take_out(m, seen, i))
        return false;
    add_part(&m->whole.parts[i], part, false);
    seen->path[i] = path;
    seen->runs[i] = part->runs;
    seen->events[i] = part->events;
    seen->hash[i] = part->hash;
    return true;
}

static bool
add_result(struct merge *m, struct cli_shard_result *r, const char *path)
{
    if (!(m->shards == NULL ? begin(m, r, path)
                            : cli_shard_result_fits(&m->whole, r, path)) ||
        !is_sound(m, r, path))
        return false;
    r->seed_step = m->whole.seed_step;
    m->shards[r->shard.index - 1].is_done |= cli_check_is_done(&m->options, r);
    if (r->is_checked) {
        m->whole.checked = r->checked;
        m->whole.checker = r->checker;
        memcpy(m->whole.cells, r->cells, sizeof r->cells);
    }
    return add_one(m, r, CLI_PART_HEAPS, path) &&
           add_one(m, r, CLI_PART_TRACES, path);
}

/* ---- What is missing ---- */

static bool
is_missing(const void *context, uint32_t shard)
{
    const struct merge *m = context;

    return !m->shards[shard].is_done;
}

/* ---- Failures ---- */

/* Report a seed that failed in its shard but holds here: its runs differ, or
 * one was slow. */
static enum cli_exit
tell_unstable(struct merge *m, int part, const char *path)
{
    const struct cli_shard_failure *failure = &m->whole.parts[part].failure;
    const struct props_failure told = {
        .breach = {.property = failure->property},
        .crashed = failure->property == PROPS_NONE};

    sim_escape_line(stdout, "%s: seed %" PRIu64 " of %s failed, and holds here",
                    path, failure->seed,
                    cli_part_name((enum cli_part_kind)part));
    cli_result_seeds(cli_search_failed(&m->options, &m->search, &told,
                                       part == CLI_PART_TRACES,
                                       failure->exit_code),
                     failure->seed, failure->seed);
    return failure->exit_code;
}

/* The whole campaign would have ended at this seed: run it again. */
static enum cli_exit
tell_failure(struct merge *m, int part)
{
    const struct cli_shard_failure *said = &m->whole.parts[part].failure;
    const char *path = m->failed_at[part];
    struct cli_shard_failure found = {.exit_code = CLI_OK};
    struct props_outcome outcome;
    struct props_campaign one;
    enum cli_exit exit_code;

    cli_check_part(&m->options, (enum cli_part_kind)part, &one);
    one.seconds = 0;
    one.show_progress = false;
    one.seed_first = one.seed_last = said->seed;
    if (!props_campaign_run(&one, &outcome))
        return cli_usage("the system refused memory or a process");
    if (outcome.end == PROPS_END_PASSED &&
        (said->exit_code == CLI_NONDETERMINISM ||
         said->exit_code == CLI_LIVENESS))
        return tell_unstable(m, part, path);
    if (outcome.end == PROPS_END_PASSED)
        return cli_usage("%s: seed %" PRIu64 " of %s does not fail", path,
                         said->seed, cli_part_name((enum cli_part_kind)part));
    exit_code =
        cli_check_failed(&m->options, &one, &m->search, &outcome, &found);
    free(found.scenario);
    if (exit_code != CLI_USAGE &&
        (exit_code != said->exit_code || found.property != said->property))
        return cli_usage("%s: seed %" PRIu64 " of %s does not fail as it says",
                         path, said->seed,
                         cli_part_name((enum cli_part_kind)part));
    return exit_code;
}

/* Report what the first shard has enumerated. */
static enum cli_exit
tell_enumerated(struct merge *m)
{
    uint64_t cells = 0;

    for (int i = 0; i < PROPS_COUNT; i++)
        cells += m->whole.cells[i];
    m->search.checked = m->whole.checked;
    memcpy(m->search.cells, m->whole.cells, sizeof m->search.cells);
    if (cells > 0)
        printf("rules %s: %" PRIu64 " cells enumerated or measured\n",
               m->options.campaign.rules->name, cells);
    return CLI_OK;
}

/* If the first shard found a failure by enumeration, enumerate that again. */
static enum cli_exit
tell_checker(struct merge *m)
{
    const struct cli_shard_failure *said = &m->whole.checker;
    struct props_finding worst;
    enum cli_exit exit_code;

    if (said->exit_code == CLI_OK)
        return tell_enumerated(m);
    exit_code = cli_check_enumerated(&m->options, &m->search, &worst);
    if (exit_code != said->exit_code || worst.property != said->property)
        return cli_usage("%s does not fail as the first shard says",
                         props_property_id(said->property));
    return exit_code;
}

static enum cli_exit
tell(struct merge *m, const char *folder)
{
    enum cli_exit exit_code = tell_checker(m);
    uint32_t missing;

    for (int i = 0; i < CLI_PART_COUNT; i++) {
        struct props_outcome *outcome =
            i == CLI_PART_HEAPS ? &m->search.heaps : &m->search.traces;
        struct props_campaign part;

        if (exit_code != CLI_OK ||
            !cli_check_part(&m->options, (enum cli_part_kind)i, &part))
            continue;
        cli_check_outcome(&m->whole.parts[i], outcome);
        cli_check_tell(stdout, &part, outcome);
        if (m->whole.parts[i].failure.exit_code != CLI_OK)
            exit_code = tell_failure(m, i);
    }
    if (exit_code == CLI_USAGE)
        return exit_code;
    if (m->differs)
        exit_code = cli_exit_worse(exit_code, CLI_NONDETERMINISM);
    missing = cli_missing_tell(is_missing, m, m->whole.shard.count,
                               m->whole.asked, folder);
    m->search.missing = missing > 0;
    m->search.heaps_done = m->search.traces_done = exit_code == CLI_OK;
    if (exit_code == CLI_OK && missing > 0)
        exit_code = CLI_INCOMPLETE;
    return cli_search_end(&m->options, &m->search, exit_code);
}

enum cli_exit
cli_check_merge(char *const *paths, uint32_t paths_count, const char *folder,
                const char *save, struct cli_report *report)
{
    static struct merge m;
    enum cli_exit exit_code = CLI_OK;

    memset(&m, 0, sizeof m);
    m.options.save = save;
    m.options.report = report;
    for (uint32_t i = 0; i < paths_count; i++) {
        struct cli_shard_result r;
        const enum cli_shard_read read = cli_shard_result_read(&r, paths[i]);

        if (read == CLI_SHARD_NONE)
            continue; /* it was removed meanwhile */
        if (read == CLI_SHARD_WRONG || !add_result(&m, &r, paths[i]))
            exit_code = CLI_USAGE;
        if (read == CLI_SHARD_READ)
            cli_shard_result_free(&r);
    }
    exit_code =
        exit_code == CLI_OK && m.shards != NULL ? tell(&m, folder) : CLI_USAGE;
    cli_shard_result_free(&m.whole);
    free(m.shards);
    return exit_code;
}
