/* check_shard.c -- see check_shard.h. */
#include "props/command/check_shard.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "props/command/check_command.h"
#include "common/monotonic.h"
#include "common/command/complaint.h"
#include "common/progress_line.h"

enum {
    SLICE_FIRST = 64, /* seeds a process */
    SLICE_MS = 1000,  /* about; a signal takes effect after a slice */
};

struct work {
    const struct cli_check_options *options;
    struct cli_search *search;
    struct cli_shard_file file;
    struct cli_check_found found;
    uint64_t begun_ms;
    uint64_t elapsed_before_ms;
    uint64_t written_ms;
    uint64_t part_ms[CLI_PART_COUNT]; /* spent by this process */
    uint64_t slice[CLI_PART_COUNT];   /* seeds */
    uint64_t runs_before;             /* of both parts */
    struct props_progress_line line;
};

static volatile sig_atomic_t stopped; /* the signal; 0: none came */

static void
note_signal(int number)
{
    stopped = number;
}

/* ---- The file ---- */

/* Resume from the file, if there is one. returns: false, and a complaint, if
 * it cannot be used */
static bool
read_result(struct work *w)
{
    struct cli_shard_file file;
    bool exists;
    bool good;

    if (!cli_shard_resume(&w->file, &file, &exists))
        return false;
    if (!exists)
        return true;
    good = cli_check_found_read(&w->found, w->options, &file);
    cli_shard_close(&file);
    w->elapsed_before_ms = w->found.elapsed_ms;
    if (good)
        printf("%s: continues after %" PRIu64 " and %" PRIu64 " runs\n",
               w->file.path, w->found.parts[0].runs, w->found.parts[1].runs);
    return good;
}

/* returns: false, and a complaint, if the file was not changed */
static bool
write_result(struct work *w)
{
    w->written_ms = cli_now_ms();
    w->found.elapsed_ms = w->elapsed_before_ms + w->written_ms - w->begun_ms;
    if (w->file.path == NULL)
        return true;
    cli_shard_write(&w->file);
    cli_check_found_pass(&w->file, &w->found);
    return cli_shard_written(&w->file);
}

/* ---- Slices ---- */

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
    } else if (outcome->seed > slice->seed_first) {
        /* Which later seeds also ran depends on the number of jobs, so count
         * only the seeds before the failure. */
        struct props_outcome before;

        slice->seed_last = outcome->seed - w->found.seed_step;
        return run_seeds(w, part, slice, &before);
    }
    return true;
}

/* Run some seeds of a part. returns: false if that was not possible */
static bool
run_slice(struct work *w, enum cli_part_kind kind)
{
    const uint64_t begun = cli_now_ms();
    const uint64_t left = cli_check_left(w->options, &w->found, kind);
    const uint64_t count = w->slice[kind] < left ? w->slice[kind] : left;
    struct cli_part *part = &w->found.parts[kind];
    struct props_outcome outcome;
    struct props_campaign slice;
    uint64_t took;

    cli_check_part(w->options, kind, &slice);
    slice.seconds = 0;
    slice.show_progress = false;
    slice.seed_first = cli_check_next_seed(&w->found, kind);
    slice.seed_step = w->found.seed_step;
    slice.seed_last = slice.seed_first + (count - 1) * slice.seed_step;
    if (!run_seeds(w, part, &slice, &outcome) ||
        (outcome.end != PROPS_END_PASSED &&
         cli_check_failed(w->options, &slice, w->search, &outcome,
                          &part->failure) == CLI_USAGE))
        return false;
    took = cli_now_ms() - begun;
    w->part_ms[kind] += took;
    if (took < SLICE_MS / 2)
        w->slice[kind] *= 2;
    else if (took > 2 * SLICE_MS && w->slice[kind] > SLICE_FIRST)
        w->slice[kind] /= 2;
    return true;
}

static uint64_t
runs_of(const struct cli_check_found *found)
{
    return found->parts[CLI_PART_HEAPS].runs +
           found->parts[CLI_PART_TRACES].runs;
}

/* Show the progress. The shard ends when its runs are done or its time is up,
 * whichever comes first. */
static void
show_progress(struct work *w)
{
    const struct cli_check_found *found = &w->found;
    const double took_s = (double)(cli_now_ms() - w->begun_ms) / 1000;
    const uint64_t runs = runs_of(found) - w->runs_before;
    double left_s = 0;

    if (!props_progress_line_due(&w->line, (uint64_t)(took_s * 1000)) ||
        runs == 0 || took_s <= 0)
        return;
    for (int kind = 0; kind < CLI_PART_COUNT; kind++)
        left_s += (double)cli_check_left(w->options, found,
                                         (enum cli_part_kind)kind) *
                  took_s / (double)runs;
    if (w->options->campaign.seconds != 0)
        left_s = fmax(0, fmin(left_s, w->options->campaign.seconds -
                                          (double)found->elapsed_ms / 1000));
    props_progress_line_show(&w->line,
                             "shard %" PRIu32 "/%" PRIu32 ": %" PRIu64
                             " runs, %.0f runs/s, %.0f s left",
                             found->shard.index, found->shard.count, runs,
                             (double)runs / took_s, left_s);
}

/* returns: the part that has had less time, of those with seeds left */
static enum cli_part_kind
choose_part(const struct work *w)
{
    if (cli_check_left(w->options, &w->found, CLI_PART_HEAPS) == 0)
        return CLI_PART_TRACES;
    if (cli_check_left(w->options, &w->found, CLI_PART_TRACES) == 0)
        return CLI_PART_HEAPS;
    return w->part_ms[CLI_PART_TRACES] < w->part_ms[CLI_PART_HEAPS]
               ? CLI_PART_TRACES
               : CLI_PART_HEAPS;
}

static bool
run_slices(struct work *w)
{
    w->runs_before = runs_of(&w->found);
    while (stopped == 0 && !cli_check_is_done(w->options, &w->found)) {
        if (!run_slice(w, choose_part(w)))
            return false;
        w->found.elapsed_ms = w->elapsed_before_ms + cli_now_ms() - w->begun_ms;
        if (cli_now_ms() - w->written_ms >=
            UINT64_C(1000) * w->options->every_seconds)
            write_result(w); /* tried again in a minute */
        show_progress(w);
    }
    props_progress_line_hide(&w->line);
    return true;
}

/* ---- The shard ---- */

/* The first shard runs the checks by enumeration, which take a moment. */
static void
enumerate(struct work *w)
{
    struct cli_check_found *found = &w->found;
    struct props_finding worst;
    enum cli_exit exit_code;

    if (found->shard.index != 1 || found->is_checked)
        return;
    exit_code = cli_check_enumerated(w->options, w->search, &worst);
    found->is_checked = true;
    found->checked = w->search->checked & ~w->search->reported;
    memcpy(found->cells, w->search->cells, sizeof found->cells);
    if (exit_code != CLI_OK)
        found->checker = (struct cli_shard_failure){exit_code, worst.property};
}

/* Print what this shard has found. returns: the exit code */
static enum cli_exit
print_found(const struct work *w)
{
    const struct cli_check_found *found = &w->found;

    for (int i = 0; i < CLI_PART_COUNT; i++) {
        struct props_campaign part;
        struct props_outcome *outcome =
            i == CLI_PART_HEAPS ? &w->search->heaps : &w->search->traces;

        if (!cli_check_part(w->options, (enum cli_part_kind)i, &part))
            continue;
        cli_check_outcome(&found->parts[i], outcome);
        cli_check_report(stdout, &part, outcome);
    }
    if (found->checker.exit_code != CLI_OK)
        return (enum cli_exit)found->checker.exit_code;
    for (int i = 0; i < CLI_PART_COUNT; i++) {
        if (found->parts[i].failure.exit_code == CLI_OK)
            continue;
        printf("seed %" PRIu64 " of %s fails\n",
               cli_check_next_seed(found, (enum cli_part_kind)i),
               cli_part_name((enum cli_part_kind)i));
        return (enum cli_exit)found->parts[i].failure.exit_code;
    }
    if (!cli_check_is_done(w->options, found)) {
        printf("stopped by signal %d; the same command goes on\n",
               (int)stopped);
        return CLI_INCOMPLETE;
    }
    printf("shard %" PRIu32 "/%" PRIu32 " is done\n", found->shard.index,
           found->shard.count);
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

    if (!read_result(w))
        return CLI_USAGE;
    take_signals();
    enumerate(w);
    /* First find out that it can be written, before work is lost. */
    if (!write_result(w) || !run_slices(w) || !write_result(w))
        return CLI_USAGE;
    exit_code = print_found(w);
    if (exit_code != CLI_OK || w->found.shard.count > 1)
        return exit_code;
    w->search->heaps_done = w->search->traces_done = true;
    w->search->checked = w->found.checked;
    memcpy(w->search->cells, w->found.cells, sizeof w->search->cells);
    return cli_search_end(w->options, w->search, exit_code);
}

enum cli_exit
cli_check_shard(const struct cli_check_options *options,
                struct cli_search *search, int argc, char *const *argv)
{
    static const char *const dropped[] = {"every", "save", "corpus", NULL};
    static char path[PATH_MAX];
    static struct work w;
    enum cli_exit exit_code;

    w.options = options;
    w.search = search;
    w.begun_ms = cli_now_ms();
    w.slice[0] = w.slice[1] = (uint64_t)SLICE_FIRST * options->campaign.jobs;
    if (!cli_shard_begin(&w.file, options->shard, argc, argv, dropped,
                         options->result, path, sizeof path))
        return CLI_USAGE;
    cli_check_found_begin(&w.found, options, w.file.shard);
    exit_code = run(&w);
    cli_shard_close(&w.file);
    return exit_code;
}
