/*
 * test_explore_search.c -- a search in several processes, in shards, in steps
 * from a checkpoint, after it was killed, and with random runs in between: each
 * has the result of a plain search.
 */
#include "explore/test/kernels/cases.h"
#include "explore/textbook/textbook.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/test/unit_test.h"

static char file[] = "/tmp/profsim-search-XXXXXX";

static struct sim_exhaust_result
exhaust(const struct sim_kernel *kernel, struct sim_exhaust_options options)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &options, &r);
    if (r.failures > 0)
        free(r.choices);
    return r;
}

static void
expect_same(const struct sim_exhaust_result *r,
            const struct sim_exhaust_result *plain)
{
    assert_string_equal(r->trouble, "");
    assert_int_equal(r->verdict, plain->verdict);
    assert_int_equal(r->graphs, plain->graphs);
    assert_int_equal(r->graphs_sum, plain->graphs_sum);
}

static bool
is_there(void)
{
    return access(file, F_OK) == 0;
}

static void
pause_ms(uint32_t ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

/* ---- Several processes ---- */

static const struct sim_kernel *
kernel_numbered(uint32_t i)
{
    return i == 0   ? fixtures_seqlock(3, 2)
           : i == 1 ? fixtures_counter(4)
                    : fixtures_seqlock(1, 4);
}

TEST(several_processes_find_the_graphs_of_one)
{
    static const uint64_t graphs[] = {9801, 2520, 14641};

    for (uint32_t i = 0; i < 4; i++) {
        struct sim_exhaust_options options = {.by_schedules = i == 3};
        const struct sim_exhaust_result plain =
            exhaust(kernel_numbered(i % 3), options);
        struct sim_exhaust_result r;

        assert_int_equal(plain.graphs, graphs[i % 3]);
        options.jobs = 3;
        options.alone_ms = 1;
        r = exhaust(kernel_numbered(i % 3), options);
        expect_same(&r, &plain);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
    }
}

TEST(several_processes_count_and_keep_failures)
{
    struct sim_exhaust_options options = {.keep_going = true};
    const struct sim_exhaust_result plain = exhaust(&fixtures_needle, options);
    struct sim_exhaust_result r;
    uint32_t values[64];
    struct sim_choice list[256];
    struct sim_choices choices;
    struct sim_run run;

    assert_true(plain.failures > 0);
    options.jobs = 2;
    options.alone_ms = 1;
    r = exhaust(&fixtures_needle, options);
    expect_same(&r, &plain);
    assert_int_equal(r.failures, plain.failures);
    options.keep_going = false;
    sim_explore_exhaust(&fixtures_needle, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    assert_true(r.choices_count <= 64);
    for (uint32_t i = 0; i < r.choices_count; i++)
        values[i] = r.choices[i].value;
    sim_choices_init(&choices, list, 256);
    sim_choices_replay(&choices, values, r.choices_count);
    assert_int_equal(
        sim_explore_run(&fixtures_needle, &r.options, &choices, &run),
        SIM_END_FAILED);
    free(r.choices);
}

TEST(several_processes_keep_to_limits)
{
    struct sim_exhaust_options options = {
        .jobs = 3, .alone_ms = 1, .runs_max = 5000};
    struct sim_exhaust_result r = exhaust(fixtures_seqlock(3, 2), options);

    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    /* Each process may have kept the rest of a batch. */
    assert_in_range(r.runs, 5000 - 3 * 32, 5000);
    options.runs_max = 0;
    options.time_ms = 20;
    for (options.jobs = 1; options.jobs <= 3; options.jobs += 2) {
        r = exhaust(fixtures_seqlock(3, 3), options);
        assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
        assert_true(r.runs > 0);
    }
}

static void
kill_a_process(void *context, const struct sim_progress *progress)
{
    FILE *list = fopen("/proc/thread-self/children", "r");
    int *killed = context;

    (void)progress;
    assert_non_null(list);
    if (*killed == 0 && fscanf(list, "%d", killed) == 1)
        kill(*killed, SIGKILL);
    fclose(list);
}

/* The system may end any of them, if memory runs out. */
TEST(a_process_that_is_killed_ends_the_search_without_a_verdict)
{
    int killed = 0;
    const struct sim_exhaust_options options = {.jobs = 2,
                                                .alone_ms = 1,
                                                .time_ms = 20000,
                                                .progress = kill_a_process,
                                                .progress_context = &killed};
    const struct sim_exhaust_result r =
        exhaust(fixtures_seqlock(3, 3), options);

    assert_true(killed != 0);
    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    assert_string_equal(r.trouble, "a process of the search has ended");
}

/* ---- Shards ---- */

/* Search one shard. */
typedef struct sim_exhaust_result
search_shard(const struct sim_kernel *kernel,
             struct sim_exhaust_options options);

static void
expect_whole(const struct sim_kernel *kernel,
             struct sim_exhaust_options options, uint32_t shards,
             search_shard *search)
{
    const struct sim_exhaust_result plain = exhaust(kernel, options);
    struct sim_exhaust_result sum = {.verdict = plain.verdict};

    for (uint32_t i = 1; i <= shards; i++) {
        struct sim_exhaust_result r;

        options.shard = i;
        options.shards = shards;
        r = search(kernel, options);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        sum.graphs += r.graphs;
        sum.graphs_sum += r.graphs_sum;
    }
    expect_same(&sum, &plain);
}

/* If a thread sleeps, two lists of choices may lead to one graph: then the
 * first shard does all. */
TEST(shards_find_each_graph_once)
{
    static const struct sim_exhaust_options plainly = {0};
    static const struct sim_exhaust_options by_schedules = {.by_schedules =
                                                                true};
    static const struct sim_exhaust_options jobs = {.jobs = 2, .alone_ms = 1};
    struct sim_exhaust_options second = {.shard = 2, .shards = 3};

    expect_whole(fixtures_seqlock(3, 2), plainly, 2, exhaust);
    expect_whole(fixtures_counter(4), plainly, 16, exhaust);
    expect_whole(fixtures_counter(4), jobs, 3, exhaust);
    expect_whole(fixtures_counter(3), by_schedules, 3, exhaust);
    expect_whole(fixtures_mutex2(2), plainly, 3, exhaust);
    assert_int_equal(exhaust(fixtures_mutex2(2), second).graphs, 0);
    second.by_schedules = true;
    assert_int_equal(exhaust(fixtures_counter(3), second).graphs, 0);
}

TEST(no_shard_of_seven_is_idle_or_does_it_all)
{
    for (uint32_t i = 1; i <= 7; i++) {
        const struct sim_exhaust_options options = {.shard = i, .shards = 7};

        assert_in_range(exhaust(fixtures_seqlock(3, 2), options).graphs,
                        9801 / 21, 9801 / 3);
    }
}

/* Search in steps of 300 runs, each by a new search that goes on from the
 * checkpoint. */
static struct sim_exhaust_result
search_stepwise(const struct sim_kernel *kernel,
                struct sim_exhaust_options options)
{
    struct sim_exhaust_result r = {.verdict = SIM_VERDICT_UNFINISHED};

    options.checkpoint = file;
    for (uint32_t steps = 0; r.verdict == SIM_VERDICT_UNFINISHED && steps < 40;
         steps++) {
        options.runs_max += 300;
        r = exhaust(kernel, options);
        assert_true(r.resumed == (steps > 0));
        assert_true(is_there() == (r.verdict == SIM_VERDICT_UNFINISHED));
    }
    return r;
}

TEST(a_shard_goes_on_from_its_file_and_no_other_does)
{
    struct sim_exhaust_options options = {
        .checkpoint = file, .runs_max = 100, .shard = 1, .shards = 2};

    expect_whole(fixtures_counter(4), (struct sim_exhaust_options){0}, 3,
                 search_stepwise);
    exhaust(fixtures_counter(4), options);
    options.shard = 2;
    assert_int_equal(exhaust(fixtures_counter(4), options).verdict,
                     SIM_VERDICT_REFUSED);
    remove(file);
}

/* ---- A file ---- */

TEST(a_search_goes_on_from_its_file)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct sim_exhaust_options options = {.by_schedules = i == 1};
        const struct sim_exhaust_result plain =
            exhaust(fixtures_counter(4), options);
        struct sim_exhaust_result r;

        options.jobs = i == 2 ? 2 : 1;
        options.alone_ms = 1;
        r = search_stepwise(fixtures_counter(4), options);
        expect_same(&r, &plain);
        assert_int_equal(r.runs, plain.runs);
    }
}

/* A search that is killed at any moment loses only what it found after its last
 * checkpoint. */
TEST(a_killed_search_goes_on_from_its_file)
{
    static const struct sim_exhaust_options plainly = {0};
    struct sim_exhaust_options options = {
        .checkpoint = file, .checkpoint_ms = 1, .jobs = 2, .alone_ms = 1};
    const struct sim_exhaust_result plain =
        exhaust(fixtures_seqlock(1, 4), plainly);
    struct sim_exhaust_result r;

    for (uint32_t kills = 0; kills < 3; kills++) {
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            exhaust(fixtures_seqlock(3, 3), options); /* takes too long */
            _exit(1);
        }
        for (uint32_t ms = 0; ms < 10000 && !is_there(); ms++)
            pause_ms(1);
        pause_ms(5 * kills);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_true(is_there());
        options.jobs = 1 + kills % 2;
    }
    remove(file);
    options.runs_max = 4000;
    exhaust(fixtures_seqlock(1, 4), options);
    options.runs_max = 0;
    r = exhaust(fixtures_seqlock(1, 4), options);
    assert_true(r.resumed);
    expect_same(&r, &plain);
}

/* Change one byte of the file, or cut it off there. */
static void
damage(long at, bool cut)
{
    FILE *f = fopen(file, "r+b");
    int byte;

    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    byte = fgetc(f);
    assert_int_not_equal(byte, EOF);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ 0x40, f);
    assert_int_equal(fclose(f), 0);
    if (cut)
        assert_int_equal(truncate(file, at), 0);
}

/* returns: its length */
static long
make_file(const struct sim_exhaust_options *options)
{
    long bytes;
    FILE *f;

    remove(file);
    exhaust(fixtures_counter(4), *options);
    f = fopen(file, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    bytes = ftell(f);
    fclose(f);
    return bytes;
}

TEST(a_file_of_another_search_is_refused)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 100};
    struct sim_exhaust_options other = options;
    const long bytes = make_file(&options);
    struct sim_exhaust_result r = exhaust(fixtures_seqlock(1, 1), options);

    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
    assert_non_null(strstr(r.trouble, "another kernel's"));
    other.run.spurious_max = 1;
    r = exhaust(fixtures_counter(4), other);
    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
    assert_non_null(strstr(r.trouble, "other options"));
    for (long at = 0; at < bytes; at += 61) {
        make_file(&options);
        damage(at, at % 2 != 0);
        r = exhaust(fixtures_counter(4), options);
        assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
        assert_true(r.trouble[0] != '\0');
        assert_int_equal(r.runs, 0);
    }
    remove(file);
}

TEST(a_file_that_cannot_be_written_is_said)
{
    const struct sim_exhaust_options options = {
        .checkpoint = "/nowhere/checkpoint", .runs_max = 100};
    const struct sim_exhaust_result r = exhaust(fixtures_counter(4), options);

    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    assert_non_null(strstr(r.trouble, "/nowhere/checkpoint"));
}

/* ---- Random runs in between ---- */

TEST(random_runs_in_between_are_the_same_each_time)
{
    const struct sim_exhaust_options options = {.portfolio = true, .seed = 5};
    const struct sim_exhaust_result plain =
        exhaust(fixtures_counter(4), (struct sim_exhaust_options){0});
    const struct sim_exhaust_result once =
        exhaust(fixtures_counter(4), options);
    const struct sim_exhaust_result again =
        exhaust(fixtures_counter(4), options);

    expect_same(&once, &plain);
    assert_int_equal(once.runs, plain.runs);
    assert_in_range(once.sampled, once.runs / 8, once.runs);
    assert_int_equal(again.sampled, once.sampled);
    expect_same(&again, &once);
}

/* The first choice decides, and a depth-first search changes it last. */
TEST(a_random_run_finds_what_depth_comes_to_late)
{
    struct sim_exhaust_options options = {.runs_max = 20000, .alone_ms = 1};

    assert_int_equal(exhaust(&fixtures_early, options).verdict,
                     SIM_VERDICT_UNFINISHED);
    options.portfolio = true;
    for (options.jobs = 1; options.jobs <= 2; options.jobs++) {
        const struct sim_exhaust_result r = exhaust(&fixtures_early, options);

        assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
        assert_true(r.runs < 1000);
    }
}

int
main(void)
{
    const int descriptor = mkstemp(file);
    int failed;

    if (descriptor < 0)
        return 1;
    close(descriptor);
    remove(file);
    failed = tests_run(NULL, NULL);
    remove(file);
    return failed;
}
