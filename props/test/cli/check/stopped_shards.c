/*
 * stopped_shards.c -- a test of test_merge.c: a shard of `profsim check` that
 * is stopped by a signal and goes on, which seeds it runs at a time, when it
 * writes its file, and what it shows on a terminal; and what a long reading
 * shows there. The terminal, a clock and campaigns are simulated.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "campaign.h"
#include "check_recording.h"
#include "command.h"
#include "merge_case.h"
#include "program_id.h"
#include "shard_result.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, SHARDS = SANITIZED ? 12 : 36, WORDS_MAX = 12 };

int __real_isatty(int file);
int __wrap_isatty(int file);
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

static bool has_terminal;
uint64_t simulated_ms;

int
__wrap_isatty(int file)
{
    return has_terminal ? 1 : __real_isatty(file);
}

int
__wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (simulated_ms == 0)
        return __real_clock_gettime(id, now);
    *now = (struct timespec){(time_t)(simulated_ms / 1000),
                             (long)(simulated_ms % 1000) * 1000000};
    return 0;
}

/* ---- A reading ---- */

static enum cli_exit
read_slowly(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    has_terminal = true;
    for (int pass = 0; pass < 2; pass++) {
        simulated_ms = (uint64_t)(5000 + pass * 100000);
        cli_show_progress(0, 1000);
        simulated_ms += 4000;
        cli_show_progress(10, 1000); /* 4 s for 1 %: 396 s are left */
        simulated_ms += 6000;
        cli_show_progress(500, 1000);
        simulated_ms += 2000;
        cli_show_progress(1000, 1000);
        if (pass == 0)
            simulated_ms = 77000; /* the same reading begins anew */
        else
            cli_hide_progress();
    }
    cli_hide_progress(); /* nothing is shown */
    simulated_ms = 300000;
    cli_show_progress(2000, 4000); /* another file, not from its beginning */
    return CLI_OK;
}

static void
expect_reading(void)
{
    static const char *const lines[] = {"10 of 1000 events, 1 %, 396 s left",
                                        "500 of 1000 events, 50 %, 10 s left",
                                        "1000 of 1000 events, 100 %, 0 s left"};
    char wanted[1024] = "";
    char *none[] = {NULL};
    struct captured said;
    size_t used = 0;

    for (int i = 0; i < 6; i++)
        used += (size_t)snprintf(&wanted[used], sizeof wanted - used, "\r%-79s",
                                 lines[i % 3]);
    used +=
        (size_t)snprintf(&wanted[used], sizeof wanted - used, "\r%79s\r\r%-79s",
                         "", "2000 of 4000 events, 50 %, 0 s left");
    assert_true(captured_run(&said, read_slowly, none, -1, SECONDS));
    assert_string_equal(said.text, wanted);
    captured_free(&said);
}

/* ---- A shard ---- */

/*
 * The campaigns of a shard are simulated: each slice takes a time that is drawn
 * from its number, and prints what it was asked for.
 */
bool __real_props_campaign_run(const struct props_campaign *campaign,
                               struct props_outcome *outcome);
bool __wrap_props_campaign_run(const struct props_campaign *campaign,
                               struct props_outcome *outcome);

static struct drawn {
    uint32_t shard, count; /* shard/count */
    bool parts[2];         /* H1, T1 are asked */
    bool drawn;            /* the first seed is random */
    uint64_t first, last;
    uint64_t seconds; /* 0: no --time */
    uint64_t every;
    uint32_t jobs;
    bool terminal;
    uint64_t seed;   /* of the times */
    uint64_t slices; /* after which a signal comes */
    int signal;
} now;
static bool is_simulated;
static uint64_t slices_done;

/* Around the times after which slices grow and shrink. */
static uint64_t
slice_ms(uint64_t number)
{
    static const uint64_t times[] = {0,    499,  500,  501, 1000,
                                     1999, 2000, 2001, 9000};
    const uint64_t at = (now.seed + number * number * 7 + number / 5) % 12;

    return at < 9 ? times[at] : 20;
}

static void
print_slice(FILE *to, const struct props_campaign *slice,
            const uint64_t *written)
{
    fprintf(to,
            "%s %" PRIu64 "..%" PRIu64 " step %" PRIu64 " jobs %" PRIu32
            " time %" PRIu32 " %d; file %" PRIu64 " %" PRIu64 "\n",
            slice->worlds == 0 ? "heaps" : "traces", slice->seed_first,
            slice->seed_last, slice->seed_step, slice->jobs, slice->seconds,
            slice->show_progress, written[0], written[1]);
}

static void
make_outcome(struct props_outcome *outcome, uint64_t runs, bool traced)
{
    memset(outcome, 0, sizeof *outcome);
    outcome->runs = runs;
    outcome->events = runs * 5 + traced;
    outcome->hash = runs * 11 + traced;
}

bool
__wrap_props_campaign_run(const struct props_campaign *campaign,
                          struct props_outcome *outcome)
{
    struct cli_shard_result r;
    uint64_t runs;

    if (!is_simulated)
        return __real_props_campaign_run(campaign, outcome);
    if (cli_shard_result_read(&r, wanted_path("s.result")) != CLI_SHARD_READ)
        return false;
    runs =
        (campaign->seed_last - campaign->seed_first) / campaign->seed_step + 1;
    print_slice(stdout, campaign,
                (const uint64_t[]){r.parts[0].runs, r.parts[1].runs});
    cli_shard_result_free(&r);
    make_outcome(outcome, runs, campaign->worlds != 0);
    simulated_ms += slice_ms(slices_done++);
    if (slices_done == now.slices)
        raise(now.signal);
    return true;
}

static enum cli_exit
run_shard(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    has_terminal = now.terminal;
    is_simulated = true;
    simulated_ms = 5000000;
    return cli_check(argc, argv);
}

/* ---- What a shard must do ---- */

/* What its file must hold. */
struct filed {
    uint64_t runs[2];
    uint64_t events[2];
    uint64_t hash[2];
    uint64_t ms;
};

/* What is so far known of one process of the shard. */
struct doing {
    struct filed *filed;
    uint64_t written[2]; /* runs of the last file */
    uint64_t before[2];  /* runs of the processes before */
    uint64_t first;
    uint64_t step;
    uint64_t seeds;
    uint64_t took_ms;
    uint64_t written_ms;
    uint64_t next_line_ms;
    uint64_t part_ms[2];
    uint64_t slice[2];
    uint64_t done; /* slices */
};

static uint64_t
left_of(const struct doing *d, int part)
{
    return now.parts[part] ? d->seeds - d->filed->runs[part] : 0;
}

static bool
is_over(const struct doing *d)
{
    return (now.seconds > 0 && d->filed->ms >= now.seconds * 1000) ||
           (left_of(d, 0) == 0 && left_of(d, 1) == 0);
}

/* One slice of the part that has had less time. */
static void
expect_slice(struct doing *d, uint64_t *runs, uint64_t *ms)
{
    const bool traced = left_of(d, 0) == 0 ||
                        (left_of(d, 1) > 0 && d->part_ms[1] < d->part_ms[0]);
    const uint64_t at = d->first + d->filed->runs[traced] * d->step;
    struct props_outcome outcome;

    *runs = d->slice[traced] < left_of(d, traced) ? d->slice[traced]
                                                  : left_of(d, traced);
    print_slice(
        wanted_text,
        &(struct props_campaign){.worlds = traced,
                                 .seed_first = at,
                                 .seed_last = at + (*runs - 1) * d->step,
                                 .seed_step = d->step,
                                 .jobs = now.jobs},
        d->written);
    make_outcome(&outcome, *runs, traced);
    *ms = slice_ms(d->done++);
    d->filed->runs[traced] += *runs;
    d->filed->events[traced] += outcome.events;
    d->filed->hash[traced] += outcome.hash;
    d->filed->ms += *ms;
    d->part_ms[traced] += *ms;
    if (*ms < 500)
        d->slice[traced] *= 2;
    else if (*ms > 2000 && d->slice[traced] > 64)
        d->slice[traced] /= 2;
}

/* On a terminal after each slice, else each minute. */
static void
expect_line(struct doing *d)
{
    const uint64_t runs =
        d->filed->runs[0] + d->filed->runs[1] - d->before[0] - d->before[1];
    const double took_s = (double)d->took_ms / 1000;
    double left_s =
        (double)(left_of(d, 0) + left_of(d, 1)) * took_s / (double)runs;
    const double limit_s = (double)now.seconds - (double)d->filed->ms / 1000;
    char text[160];

    if (d->took_ms == 0 || (!now.terminal && d->took_ms < d->next_line_ms))
        return;
    d->next_line_ms = d->took_ms / 60000 * 60000 + 60000;
    if (now.seconds > 0 && left_s > limit_s)
        left_s = limit_s > 0 ? limit_s : 0;
    snprintf(text, sizeof text,
             "shard %" PRIu32 "/%" PRIu32 ": %" PRIu64
             " runs, %.0f runs/s, %.0f s left",
             now.shard, now.count, runs, (double)runs / took_s, left_s);
    fprintf(wanted_text, now.terminal ? "\r%-79s" : "%s\n", text);
}

/* returns: the exit code */
static int
expect_process(struct filed *filed, uint64_t first, bool again)
{
    struct doing d = {.filed = filed,
                      .first = first,
                      .step = now.drawn ? 1 : now.count,
                      .next_line_ms = 60000,
                      .slice = {64 * now.jobs, 64 * now.jobs}};
    static const char *const names[] = {"rules exact", "traces"};

    memcpy(d.before, filed->runs, sizeof d.before);
    memcpy(d.written, filed->runs, sizeof d.written);
    d.seeds = (now.last - first) / d.step + 1;
    if (again)
        fprintf(wanted_text,
                "%s: continues after %" PRIu64 " and %" PRIu64 " runs\n",
                wanted_path("s.result"), d.before[0], d.before[1]);
    while (!is_over(&d) && (d.done < now.slices || d.done == 0)) {
        uint64_t runs;
        uint64_t ms;

        expect_slice(&d, &runs, &ms);
        d.took_ms += ms;
        if (d.took_ms - d.written_ms >= now.every * 1000) {
            memcpy(d.written, filed->runs, sizeof d.written);
            d.written_ms = d.took_ms;
        }
        expect_line(&d);
    }
    if (now.terminal && d.done > 0)
        fprintf(wanted_text, "\r%79s\r", "");
    for (int i = 0; i < 2; i++) {
        if (now.parts[i])
            fprintf(wanted_text,
                    "%s: %" PRIu64 " runs, %" PRIu64
                    " events, log hash %016" PRIx64 "\n",
                    names[i], filed->runs[i], filed->events[i], filed->hash[i]);
    }
    if (is_over(&d))
        fprintf(wanted_text, "shard %" PRIu32 "/%" PRIu32 " is done\n",
                now.shard, now.count);
    else
        fprintf(wanted_text, "stopped by signal %d; the same command goes on\n",
                now.signal);
    return is_over(&d) ? 0 : 6;
}

static void
draw_shard(void)
{
    static const int signals[] = {SIGINT, SIGHUP, SIGTERM};
    static const uint64_t times[] = {0, 1, 7, 60};
    const uint32_t parts = 1 + merge_below(3);

    now = (struct drawn){.count = 2 + merge_below(3),
                         .parts = {(parts & 1) != 0, (parts & 2) != 0},
                         .first = 5,
                         .every = times[merge_below(4)],
                         .jobs = merge_below(4),
                         .terminal = merge_below(2) > 0,
                         .seed = merge_below(12),
                         .slices = 1 + merge_below(40),
                         .signal = signals[merge_below(3)]};
    now.shard = 1 + merge_below(now.count);
    if (merge_below(2) > 0)
        now.seconds = 1 + merge_below(60);
    now.last = merge_below(3) > 0 ? 5 + merge_below(9000) : 500000000;
    if (now.seconds > 0 && merge_below(2) == 0) {
        now.drawn = merge_below(2) > 0;
        now.last = UINT64_MAX - 1;
    }
}

/* The command's words, but for those that do not change the result. */
static void
expect_asked(const char *asked)
{
    char wanted[256];
    int used = snprintf(wanted, sizeof wanted, "check%s%s --rules exact",
                        now.parts[0] ? " H1" : "", now.parts[1] ? " T1" : "");

    if (!now.drawn)
        used += snprintf(&wanted[used], sizeof wanted - (size_t)used,
                         " --seeds %" PRIu64 "..", now.first);
    if (now.last < UINT64_MAX - 1)
        used += snprintf(&wanted[used], sizeof wanted - (size_t)used,
                         "%" PRIu64, now.last);
    if (now.seconds > 0)
        snprintf(&wanted[used], sizeof wanted - (size_t)used,
                 " --time %" PRIu64, now.seconds);
    assert_string_equal(asked, wanted);
}

/* The file that a process leaves. */
static void
expect_file(const struct filed *filed, uint64_t first)
{
    struct cli_shard_result r;

    assert_int_equal(cli_shard_result_read(&r, wanted_path("s.result")),
                     CLI_SHARD_READ);
    expect_asked(r.asked);
    assert_int_equal(r.spent_ms, filed->ms);
    assert_int_equal(r.seed_step, now.drawn ? 1 : now.count);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(r.parts[i].runs, filed->runs[i]);
        assert_int_equal(r.parts[i].events, filed->events[i]);
        assert_int_equal(r.parts[i].hash, filed->hash[i]);
        if (filed->runs[i] > 0)
            assert_int_equal(r.parts[i].seed_first, first);
    }
    cli_shard_result_free(&r);
}

/* Run the shard until it is done, or three times. */
static void
expect_shard(void)
{
    static char words[WORDS_MAX][128];
    char *argv[WORDS_MAX + 1];
    struct filed filed = {.ms = 0};
    uint64_t first = now.first + now.shard - 1;
    int exit_code = 6;
    int argc = 0;

#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    ADD("check");
    if (now.parts[0])
        ADD("H1");
    if (now.parts[1])
        ADD("T1");
    ADD("--shard=%" PRIu32 "/%" PRIu32, now.shard, now.count);
    ADD("--result=%s", wanted_path("s.result"));
    if (now.jobs > 0)
        ADD("--jobs=%" PRIu32, now.jobs);
    else /* one for each processor */
        now.jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (now.every != 60)
        ADD("--every=%" PRIu64, now.every);
    if (now.seconds > 0)
        ADD("--time=%" PRIu64, now.seconds);
    if (!now.drawn)
        ADD("--seeds=%" PRIu64 "..", now.first);
    if (now.last < UINT64_MAX - 1)
        snprintf(words[argc - 1], sizeof *words,
                 "--seeds=%" PRIu64 "..%" PRIu64, now.first, now.last);
    argv[argc] = NULL;
    for (int i = 0; i < 3 && exit_code == 6; i++) {
        struct captured said;
        uint64_t seed = 0;
        const char *text;

        assert_true(captured_run(&said, run_shard, argv, -1, SECONDS));
        text = said.text;
        if (now.drawn) { /* the first process keeps its seed */
            assert_int_equal(sscanf(text, "seeds from %" SCNu64 " on\n", &seed),
                             1);
            text = strchr(text, '\n') + 1;
            if (i == 0)
                first = seed;
        }
        wanted_begin();
        exit_code = expect_process(&filed, first, i > 0);
        wanted_end();
        wanted_expect(&(struct captured){.text = (char *)(uintptr_t)text});
        merge_expect_exit(&said, exit_code);
        captured_free(&said);
        expect_file(&filed, first);
    }
    assert_int_equal(unlink(wanted_path("s.result")), 0);
}

/* ---- The program's own file ---- */

static enum cli_exit
name_program(int argc, char **argv)
{
    struct rlimit many;
    struct rlimit few;
    char id[CLI_PROGRAM_ID_BYTES];
    bool good;

    (void)argc;
    (void)argv;
    if (getrlimit(RLIMIT_NOFILE, &many) != 0)
        return CLI_CRASH;
    few = (struct rlimit){3, many.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        return CLI_CRASH;
    good = cli_program_id(id);
    (void)!setrlimit(RLIMIT_NOFILE, &many);
    return good ? CLI_OK : CLI_USAGE;
}

void
merge_stopped_shards(void)
{
    char *none[] = {NULL};
    struct captured said;

    expect_reading();
    merge_seed(31);
    for (int i = 0; i < SHARDS; i++) {
        draw_shard();
        expect_shard();
    }
    assert_true(captured_run(&said, name_program, none, -1, SECONDS));
    merge_expect_exit(&said, 1);
    assert_string_equal(said.text,
                        "profsim: /proc/self/exe: Too many open files\n");
    captured_free(&said);
}
