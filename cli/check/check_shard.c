/* check_shard.c -- see check_shard.h. */
#include "check_shard.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "complaint.h"
#include "progress_line.h"
#include "result_path.h"

enum {
    SLICE_FIRST = 64, /* seeds a process */
    SLICE_MS = 1000,  /* about; a signal takes effect after a slice */
};

struct work {
    const struct cli_check_options *options;
    struct cli_search *search;
    struct cli_shard_result *result;
    char path[PATH_MAX]; /* of the result; "": none is written */
    uint64_t begun_ms;
    uint64_t spent_before_ms;
    uint64_t written_ms;
    uint64_t part_ms[CLI_PART_COUNT]; /* spent by this process */
    uint64_t slice[CLI_PART_COUNT];   /* seeds */
    uint64_t runs_before[CLI_PART_COUNT];
    struct props_progress_line line;
};

static volatile sig_atomic_t stopped; /* the signal; 0: none came */

static void
note_signal(int number)
{
    stopped = number;
}

/* ---- What is asked, and what is left ---- */

bool
cli_check_asked(const struct cli_check_options *options,
                char asked[CLI_ASKED_BYTES])
{
    const struct props_campaign *campaign = &options->campaign;
    FILE *file = fmemopen(asked, CLI_ASKED_BYTES, "w");
    bool good;

    if (file == NULL)
        return false;
    fputs("check", file);
    for (int i = 0; i < PROPS_COUNT; i++) {
        if (options->named && (campaign->asked & PROPS_BIT(i)) != 0)
            fprintf(file, " %s", props_property_id((enum props_property)i));
    }
    fprintf(file, " --rules %s", campaign->rules->name);
    if (!options->drawn)
        fprintf(file, " --seeds %" PRIu64 "..", campaign->seed_first);
    if (campaign->seed_last != UINT64_MAX - 1)
        fprintf(file, "%" PRIu64, campaign->seed_last);
    if (campaign->seconds != 0)
        fprintf(file, " --time %" PRIu32, campaign->seconds);
    good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}

/* The seeds of a shard. returns: how many; *first if there are any */
static uint64_t
seeds_of(const struct cli_check_options *options,
         const struct cli_shard_result *result, uint64_t *first)
{
    const struct props_campaign *campaign = &options->campaign;
    const uint64_t after = campaign->seed_last - campaign->seed_first;
    const uint64_t before = options->drawn ? 0 : result->shard.index - 1;

    *first = campaign->seed_first + before;
    return before > after ? 0 : (after - before) / result->seed_step + 1;
}

uint64_t
cli_check_left(const struct cli_check_options *options,
               const struct cli_shard_result *result, enum cli_part_kind kind)
{
    struct props_campaign unused;
    uint64_t first;

    if (!cli_check_part(options, kind, &unused))
        return 0;
    for (int i = 0; i <= (int)kind; i++) {
        if (result->parts[i].failure.exit_code != CLI_OK)
            return 0;
    }
    return seeds_of(options, result, &first) - result->parts[kind].runs;
}

static bool
is_out_of_time(const struct cli_check_options *options,
               const struct cli_shard_result *result)
{
    return options->campaign.seconds != 0 &&
           result->spent_ms >= UINT64_C(1000) * options->campaign.seconds;
}

bool
cli_check_is_done(const struct cli_check_options *options,
                  const struct cli_shard_result *result)
{
    if (result->shard.index == 1 && !result->is_checked)
        return false;
    return result->checker.exit_code != CLI_OK ||
           is_out_of_time(options, result) ||
           (cli_check_left(options, result, CLI_PART_HEAPS) == 0 &&
            cli_check_left(options, result, CLI_PART_TRACES) == 0);
}

void
cli_check_outcome(const struct cli_part *part, struct props_outcome *outcome)
{
    *outcome = (struct props_outcome){
        .end = part->failure.exit_code == CLI_OK ? PROPS_END_PASSED
                                                 : PROPS_END_BROKEN,
        .seed = part->failure.seed,
        .runs = part->runs,
        .events = part->events,
        .hash = part->hash,
        .cover = part->cover,
    };
}

/* ---- The file ---- */

static bool
choose_path(struct work *w)
{
    w->path[0] = '\0';
    return w->options->result == NULL ||
           cli_result_path(w->options->result, w->result->shard, w->path,
                           sizeof w->path);
}

/* Is this result's part the beginning of the seeds that this shard runs? */
static bool
is_own_part(const struct work *w, const struct cli_shard_result *found,
            enum cli_part_kind kind)
{
    const struct cli_part *part = &found->parts[kind];
    const bool failed = part->failure.exit_code != CLI_OK;
    struct props_campaign unused;
    uint64_t first;
    const uint64_t seeds = seeds_of(w->options, w->result, &first);

    if (part->runs == 0 && !failed)
        return true;
    if (part->runs > 0 && found->seed_step != w->result->seed_step)
        return false;
    return cli_check_part(w->options, kind, &unused) && seeds > 0 &&
           part->runs <= seeds - failed &&
           (w->options->drawn || part->runs == 0 || part->seed_first == first);
}

/* Continue from the file, if there is one. returns: false, and a complaint, if
 * it cannot be used */
static bool
read_result(struct work *w)
{
    struct cli_shard_result found;

    if (w->path[0] == '\0')
        return true;
    switch (cli_shard_result_read(&found, w->path)) {
    case CLI_SHARD_WRONG:
        return false;
    case CLI_SHARD_NONE:
        return true;
    case CLI_SHARD_READ:
        break;
    }
    if (!cli_shard_result_fits(w->result, &found, w->path) ||
        (found.shard.index != w->result->shard.index &&
         !cli_complain("%s: it belongs to shard %" PRIu32, w->path,
                       found.shard.index))) {
        cli_shard_result_free(&found);
        return false;
    }
    for (int i = 0; i < CLI_PART_COUNT; i++) {
        if (is_own_part(w, &found, (enum cli_part_kind)i))
            continue;
        cli_shard_result_free(&found);
        return cli_complain("%s: the seeds of %s are not those of its shard",
                            w->path, cli_part_name((enum cli_part_kind)i));
    }
    found.seed_step = w->result->seed_step;
    *w->result = found;
    w->spent_before_ms = found.spent_ms;
    printf("%s: continues after %" PRIu64 " and %" PRIu64 " runs\n", w->path,
           found.parts[0].runs, found.parts[1].runs);
    return true;
}

/* returns: false, and a complaint, if the file was not changed */
static bool
write_result(struct work *w)
{
    const char *reason;

    w->written_ms = cli_now_ms();
    w->result->spent_ms = w->spent_before_ms + w->written_ms - w->begun_ms;
    if (w->path[0] == '\0')
        return true;
    reason = cli_shard_result_write(w->result, w->path);
    return reason == NULL || cli_complain("%s: %s", w->path, reason);
}

/* ---- Slices ---- */

/* If the first seed was random, a continued shard keeps its old one. */
static uint64_t
next_seed(const struct work *w, struct cli_part *part)
{
    uint64_t first;

    seeds_of(w->options, w->result, &first);
    if (part->runs == 0)
        part->seed_first = first;
    return part->seed_first + part->runs * w->result->seed_step;
}

static bool
run_seeds(const struct work *w, struct cli_part *part,
          struct props_campaign *slice, struct props_outcome *outcome)
{
    if (!props_campaign_run(slice, outcome))
        return cli_complain("the system refused memory or a process");
    if (outcome->end == PROPS_END_PASSED) {
        part->runs += outcome->runs;
        part->events += outcome->events;
        part->hash += outcome->hash;
        props_coverage_add(&part->cover, &outcome->cover);
        return true;
    }
    if (outcome->seed > slice->seed_first) {
        /* Which later seeds also ran depends on the number of jobs, so count
         * only the seeds before the failure. */
        struct props_outcome before;

        slice->seed_last = outcome->seed - w->result->seed_step;
        return run_seeds(w, part, slice, &before);
    }
    return true;
}

/* Run some seeds of a part. returns: CLI_USAGE if that was not possible */
static enum cli_exit
run_slice(struct work *w, enum cli_part_kind kind)
{
    const uint64_t begun = cli_now_ms();
    const uint64_t left = cli_check_left(w->options, w->result, kind);
    struct cli_part *part = &w->result->parts[kind];
    struct props_outcome outcome;
    struct props_campaign slice;
    uint64_t count = w->slice[kind] < left ? w->slice[kind] : left;
    uint64_t took;

    cli_check_part(w->options, kind, &slice);
    slice.seconds = 0;
    slice.show_progress = false;
    slice.seed_first = next_seed(w, part);
    slice.seed_step = w->result->seed_step;
    slice.seed_last = slice.seed_first + (count - 1) * slice.seed_step;
    if (!run_seeds(w, part, &slice, &outcome))
        return CLI_USAGE;
    if (outcome.end != PROPS_END_PASSED &&
        cli_check_failed(w->options, &slice, w->search, &outcome,
                         &part->failure) == CLI_USAGE)
        return CLI_USAGE;
    took = cli_now_ms() - begun;
    w->part_ms[kind] += took;
    if (took < SLICE_MS / 2)
        w->slice[kind] *= 2;
    else if (took > 2 * SLICE_MS && w->slice[kind] > SLICE_FIRST)
        w->slice[kind] /= 2;
    return CLI_OK;
}

/* Show the progress. The shard ends when its runs are done or its time is up,
 * whichever comes first. */
static void
show_progress(struct work *w)
{
    const struct cli_shard_result *result = w->result;
    const uint64_t took_ms = cli_now_ms() - w->begun_ms;
    const uint64_t limit_ms = UINT64_C(1000) * w->options->campaign.seconds;
    uint64_t runs = 0;
    uint64_t left = 0;
    double left_s;

    if (!props_progress_line_due(&w->line, took_ms))
        return;
    for (int kind = 0; kind < CLI_PART_COUNT; kind++) {
        runs += result->parts[kind].runs - w->runs_before[kind];
        left += cli_check_left(w->options, result, (enum cli_part_kind)kind);
    }
    if (runs == 0 || took_ms == 0)
        return;
    left_s = (double)left * (double)took_ms / 1000 / (double)runs;
    if (is_out_of_time(w->options, result))
        left_s = 0;
    else if (limit_ms != 0 &&
             left_s > (double)(limit_ms - result->spent_ms) / 1000)
        left_s = (double)(limit_ms - result->spent_ms) / 1000;
    props_progress_line_show(&w->line,
                             "shard %" PRIu32 "/%" PRIu32 ": %" PRIu64
                             " runs, %.0f runs/s, %.0f s left",
                             result->shard.index, result->shard.count, runs,
                             (double)runs * 1000 / (double)took_ms, left_s);
}

/* returns: the part that has had less time, of those with seeds left */
static enum cli_part_kind
choose_part(const struct work *w)
{
    const bool heaps =
        cli_check_left(w->options, w->result, CLI_PART_HEAPS) > 0;
    const bool traces =
        cli_check_left(w->options, w->result, CLI_PART_TRACES) > 0;

    if (heaps && traces)
        return w->part_ms[CLI_PART_TRACES] < w->part_ms[CLI_PART_HEAPS]
                   ? CLI_PART_TRACES
                   : CLI_PART_HEAPS;
    return heaps ? CLI_PART_HEAPS : CLI_PART_TRACES;
}

static enum cli_exit
run_slices(struct work *w)
{
    for (int kind = 0; kind < CLI_PART_COUNT; kind++)
        w->runs_before[kind] = w->result->parts[kind].runs;
    while (stopped == 0 && !cli_check_is_done(w->options, w->result)) {
        if (run_slice(w, choose_part(w)) != CLI_OK)
            return CLI_USAGE;
        w->result->spent_ms = w->spent_before_ms + cli_now_ms() - w->begun_ms;
        if (cli_now_ms() - w->written_ms >=
            UINT64_C(1000) * w->options->every_seconds)
            write_result(w); /* tried again in a minute */
        show_progress(w);
    }
    props_progress_line_hide(&w->line);
    return CLI_OK;
}

/* ---- The shard ---- */

/* The first shard runs the checks by enumeration, which take a moment. */
static void
enumerate(struct work *w)
{
    struct cli_shard_result *result = w->result;
    struct props_finding worst;
    enum cli_exit exit_code;

    if (result->shard.index != 1 || result->is_checked)
        return;
    exit_code = cli_check_enumerated(w->options, w->search, &worst);
    result->is_checked = true;
    result->checked = w->search->checked & ~w->search->reported;
    memcpy(result->cells, w->search->cells, sizeof result->cells);
    if (exit_code != CLI_OK)
        result->checker = (struct cli_shard_failure){
            .exit_code = exit_code, .property = worst.property};
}

/* Print what this shard has found. returns: the exit code */
static enum cli_exit
tell(const struct work *w)
{
    const struct cli_shard_result *r = w->result;

    for (int i = 0; i < CLI_PART_COUNT; i++) {
        struct props_campaign part;
        struct props_outcome *outcome =
            i == CLI_PART_HEAPS ? &w->search->heaps : &w->search->traces;

        if (!cli_check_part(w->options, (enum cli_part_kind)i, &part))
            continue;
        cli_check_outcome(&r->parts[i], outcome);
        cli_check_tell(stdout, &part, outcome);
    }
    if (r->checker.exit_code != CLI_OK)
        return r->checker.exit_code;
    for (int i = 0; i < CLI_PART_COUNT; i++) {
        if (r->parts[i].failure.exit_code == CLI_OK)
            continue;
        printf("seed %" PRIu64 " of %s fails\n", r->parts[i].failure.seed,
               cli_part_name((enum cli_part_kind)i));
        return r->parts[i].failure.exit_code;
    }
    if (!cli_check_is_done(w->options, r)) {
        printf("stopped by signal %d; the same command goes on\n",
               (int)stopped);
        return CLI_INCOMPLETE;
    }
    printf("shard %" PRIu32 "/%" PRIu32 " is done\n", r->shard.index,
           r->shard.count);
    return CLI_OK;
}

static void
take_signals(void)
{
    const struct sigaction action = {.sa_handler = note_signal,
                                     .sa_flags = SA_RESTART};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static enum cli_exit
run(struct work *w)
{
    enum cli_exit exit_code;

    if (!choose_path(w) || !read_result(w))
        return CLI_USAGE;
    take_signals();
    enumerate(w);
    if (!write_result(w)) /* find out now, before work is lost */
        return CLI_USAGE;
    exit_code = run_slices(w);
    if (!write_result(w) || exit_code != CLI_OK)
        return CLI_USAGE;
    exit_code = tell(w);
    if (exit_code != CLI_OK || w->result->shard.count > 1)
        return exit_code;
    w->search->heaps_done = w->search->traces_done = true;
    w->search->checked = w->result->checked;
    memcpy(w->search->cells, w->result->cells, sizeof w->search->cells);
    return cli_search_end(w->options, w->search, exit_code);
}

enum cli_exit
cli_check_shard(const struct cli_check_options *options,
                struct cli_search *search)
{
    static struct cli_shard_result result;
    struct work w = {.options = options,
                     .search = search,
                     .result = &result,
                     .begun_ms = cli_now_ms(),
                     .slice = {SLICE_FIRST * options->campaign.jobs,
                               SLICE_FIRST * options->campaign.jobs}};
    struct cli_shard shard = options->shard;
    char asked[CLI_ASKED_BYTES];
    enum cli_exit exit_code;

    if (shard.count == 0)
        shard = (struct cli_shard){1, 1};
    if (!cli_check_asked(options, asked))
        return cli_usage("the command is too long for a result");
    if (!cli_shard_result_begin(&result, asked, shard))
        return CLI_USAGE;
    result.seed_step = options->drawn ? 1 : shard.count;
    exit_code = run(&w);
    cli_shard_result_free(&result);
    return exit_code;
}
