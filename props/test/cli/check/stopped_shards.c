/*
 * stopped_shards.c -- a test of test_merge.c: a shard of `profsim check` that
 * is stopped by a signal and goes on, what it shows on a terminal, and what a
 * long reading shows there. The terminal and a clock are simulated.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check_recording.h"
#include "command.h"
#include "merge_case.h"
#include "program_id.h"
#include "shard_result.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, WAITS_MAX = 20000, WRITES = 5 };

int __real_isatty(int file);
int __wrap_isatty(int file);
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

static bool has_terminal;
static uint64_t simulated_ms; /* 0: the clock is the system's */

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
    cli_show_progress(5, 10); /* another file, whose beginning was not told */
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
                         "", "5 of 10 events, 50 %, 0 s left");
    assert_true(captured_run(&said, read_slowly, none, -1, SECONDS));
    assert_string_equal(said.text, wanted);
    captured_free(&said);
}

/* ---- A shard ---- */

static int signal_number;

/* Send the signal to the parent once it has written its file a few times. */
static void
stop_parent(void)
{
    struct stat like = {0};
    ino_t before = 0;
    int changes = 0;

    for (int i = 0; i < WAITS_MAX && changes < WRITES; i++) {
        const struct timespec wait = {0, 500000};

        if (stat(wanted_path("s.result"), &like) == 0 &&
            like.st_ino != before) {
            before = like.st_ino;
            changes++;
        }
        nanosleep(&wait, NULL);
    }
    kill(getppid(), signal_number);
    _exit(0);
}

static enum cli_exit
run_shard(int argc, char **argv)
{
    has_terminal = true;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (fork() == 0)
        stop_parent();
    return cli_check(argc, argv);
}

/* The numbers of the last line that was shown of a shard. */
static void
expect_line(const char *text, uint64_t runs, double seeds, double limit_s)
{
    const char *line = NULL;
    uint64_t shown;
    double speed;
    double left_s;
    double about_s;

    for (const char *at = text; (at = strstr(at, "\rshard 2/3: ")) != NULL;
         at++)
        line = at;
    assert_non_null(line);
    assert_int_equal(sscanf(line,
                            "\rshard 2/3: %" SCNu64 " runs, %lf runs/s, %lf "
                            "s left",
                            &shown, &speed, &left_s),
                     3);
    assert_int_equal(shown, runs);
    about_s = (seeds - (double)runs) / speed;
    if (limit_s > 0 && about_s > limit_s) {
        assert_true(left_s <= limit_s && left_s >= limit_s - SECONDS);
        return;
    }
    assert_true(left_s > about_s * 0.98 - 1 && left_s < about_s * 1.02 + 1);
}

static void
expect_stopped(int number, const char *seeds, double seeds_count,
               const char *time, double limit_s)
{
    char words[9][128] = {"check",     "H1",       "T1",          "--seeds", "",
                          "--every=0", "--jobs=1", "--shard=2/3", "--result"};
    char result[128];
    char option[32];
    char *argv[12];
    uint64_t before[2] = {0, 0};

    signal_number = number;
    for (int i = 0; i < 9; i++)
        argv[i] = words[i];
    snprintf(words[4], sizeof words[4], "%s", seeds);
    snprintf(result, sizeof result, "%s", wanted_path("s.result"));
    snprintf(option, sizeof option, "%s", time);
    argv[9] = result;
    argv[10] = *time != '\0' ? option : NULL;
    argv[11] = NULL;
    for (int i = 0; i < 2; i++) {
        struct cli_shard_result r;
        struct captured said;

        assert_true(captured_run(&said, run_shard, argv, -1, SECONDS));
        merge_expect_exit(&said, 6);
        merge_expect(&said, true,
                     "stopped by signal %d; the same command goes on\n",
                     number);
        merge_expect(&said, i == 1,
                     "%s: continues after %" PRIu64 " and %" PRIu64 " runs\n",
                     result, before[0], before[1]);
        assert_int_equal(cli_shard_result_read(&r, result), CLI_SHARD_READ);
        expect_line(said.text,
                    r.parts[0].runs + r.parts[1].runs - before[0] - before[1],
                    seeds_count - (double)(before[0] + before[1]), limit_s);
        /* Both parts have had some of the time. */
        assert_true(r.parts[0].runs > before[0]);
        assert_true(r.parts[1].runs > before[1]);
        assert_int_equal(r.parts[0].seed_first, 6);
        assert_int_equal(r.seed_step, 3);
        before[0] = r.parts[0].runs;
        before[1] = r.parts[1].runs;
        cli_shard_result_free(&r);
        captured_free(&said);
    }
    assert_int_equal(unlink(result), 0);
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
    /* Of each part a third of the seeds. */
    expect_stopped(SIGINT, "5..300000004", 2e8, "", 0);
    expect_stopped(SIGHUP, "5..300000004", 2e8, "--time=900", 450 * 2);
    expect_stopped(SIGTERM, "5..30000000004", 2e10, "", 0);
    assert_true(captured_run(&said, name_program, none, -1, SECONDS));
    merge_expect_exit(&said, 1);
    assert_string_equal(said.text,
                        "profsim: /proc/self/exe: Too many open files\n");
    captured_free(&said);
}
