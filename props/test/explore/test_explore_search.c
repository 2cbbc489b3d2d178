/*
 * test_explore_search.c -- a search in several processes, one that is resumed
 * from a checkpoint, and one with random runs in between have the same result
 * as a plain search.
 */
#include "cases.h"
#include "estimate.h"
#include "frontier.h"
#include "textbook.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

/* ---- what is on disk ---- */

static ino_t synced; /* the last file that was synced, and its length then */
static off_t synced_bytes;
static uint32_t renames;
static uint32_t renames_unsynced; /* of files not wholly on disk */

int __real_fsync(int descriptor);
int __real_rename(const char *from, const char *to);
int __wrap_fsync(int descriptor);
int __wrap_rename(const char *from, const char *to);

int
__wrap_fsync(int descriptor)
{
    struct stat like;

    assert_int_equal(fstat(descriptor, &like), 0);
    synced = like.st_ino;
    synced_bytes = like.st_size;
    return __real_fsync(descriptor);
}

int
__wrap_rename(const char *from, const char *to)
{
    struct stat like;

    assert_int_equal(stat(from, &like), 0);
    renames++;
    renames_unsynced += like.st_ino != synced || like.st_size != synced_bytes;
    return __real_rename(from, to);
}

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

/* ---- Several processes ---- */

static void
count_run(void *context, const struct sim_run *run)
{
    (void)run;
    ++*(uint64_t *)context;
}

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
        uint64_t here = 0;

        assert_int_equal(plain.graphs, graphs[i % 3]);
        options.jobs = 3;
        options.alone_ms = 1;
        options.after_run = count_run;
        options.after_run_context = &here;
        r = exhaust(kernel_numbered(i % 3), options);
        expect_same(&r, &plain);
        assert_int_equal(r.runs, plain.runs);
        assert_true(here < r.graphs); /* other processes have made runs, too */
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
    /* Each process takes batches of 32 runs, and may have kept the rest of
     * one. */
    assert_in_range(r.runs, 5000 - 3 * 32, 5000);
    options.runs_max = 0;
    options.time_ms = 20;
    r = exhaust(fixtures_seqlock(3, 3), options);
    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    assert_true(r.runs > 0);
    options.jobs = 1;
    r = exhaust(fixtures_seqlock(3, 3), options);
    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
}

/* There are two reads on the way to a part. Only below the part does the search
 * learn that the first may also wait; it must hand out that choice, too. */
TEST(an_answer_that_is_learned_late_is_handed_out)
{
    const struct sim_step steps[2] = {
        {.choice = {.bound = 10}, .question = {.sources = 1, .allowed = 6}},
        {.choice = {.bound = 10}, .question = {.sources = 1, .allowed = 6}},
    };
    static const uint8_t learned[2] = {4, 0};
    struct sim_step path[2];
    struct sim_frontier f;
    uint32_t part;

    sim_frontier_begin(&f);
    part = sim_frontier_take(&f);
    sim_frontier_split(&f, part, steps, 2);
    assert_int_equal(sim_frontier_take(&f), SIM_NO_PART);
    sim_frontier_enable(&f, part, learned, 2);
    sim_frontier_done(&f, part);
    assert_false(sim_frontier_is_empty(&f));
    part = sim_frontier_take(&f);
    assert_int_not_equal(part, SIM_NO_PART);
    assert_int_equal(sim_frontier_depth(&f, part), 1);
    sim_frontier_path(&f, part, path);
    assert_int_equal(path[0].choice.value, 1 + 2); /* wait for thread 2 */
    sim_frontier_done(&f, part);
    assert_true(sim_frontier_is_empty(&f));
    sim_frontier_free(&f);
}

/* ---- A file ---- */

static bool
is_there(void)
{
    return access(file, F_OK) == 0;
}

/* There are 2,520 graphs. Each search makes 300 runs and writes its checkpoint;
 * the next goes on from there. */
TEST(a_search_goes_on_from_its_file)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct sim_exhaust_options options = {.by_schedules = i == 1};
        const struct sim_exhaust_result plain =
            exhaust(fixtures_counter(4), options);
        struct sim_exhaust_result r = {.verdict = SIM_VERDICT_UNFINISHED};
        uint64_t before = 0;

        options.checkpoint = file;
        options.jobs = i == 2 ? 2 : 1;
        options.alone_ms = 1;
        for (uint32_t steps = 0;
             r.verdict == SIM_VERDICT_UNFINISHED && steps < 40; steps++) {
            options.runs_max += 300;
            r = exhaust(fixtures_counter(4), options);
            assert_string_equal(r.trouble, "");
            assert_true(r.resumed == (steps > 0));
            assert_true(r.runs > before);
            before = r.runs;
            assert_true(is_there() == (r.verdict == SIM_VERDICT_UNFINISHED));
        }
        expect_same(&r, &plain);
        assert_int_equal(r.runs, plain.runs);
    }
}

/* After a power failure the name leads to the old file, or to the whole new
 * one. */
TEST(a_file_has_its_name_when_all_of_it_is_on_the_disk)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 100};

    remove(file);
    renames = 0;
    renames_unsynced = 0;
    exhaust(fixtures_counter(4), options);
    exhaust(fixtures_counter(4), options); /* replaces an existing file */
    assert_true(is_there());
    assert_int_equal(renames, 2);
    assert_int_equal(renames_unsynced, 0);
    remove(file);
}

static void
pause_ms(uint32_t ms)
{
    const struct timespec t = {.tv_nsec = (long)ms * 1000000};

    nanosleep(&t, NULL);
}

/* A search that is killed at any moment loses only what it found after its last
 * checkpoint. */
TEST(a_killed_search_goes_on_from_its_file)
{
    const struct sim_exhaust_options plainly = {0};
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
    /* The checkpoint of another kernel is refused. One of this kernel is used
     * below. */
    r = exhaust(fixtures_counter(4), options);
    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
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

static void
make_file(const struct sim_exhaust_options *options)
{
    remove(file);
    exhaust(fixtures_counter(4), *options);
    assert_true(is_there());
}

TEST(a_file_of_another_search_is_refused)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 100};
    struct sim_exhaust_options other = options;
    struct sim_exhaust_result r;
    long bytes;
    FILE *f;

    make_file(&options);
    r = exhaust(fixtures_seqlock(1, 1), options);
    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
    assert_non_null(strstr(r.trouble, "another kernel's"));
    other.run.spurious_max = 1;
    r = exhaust(fixtures_counter(4), other);
    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
    assert_non_null(strstr(r.trouble, "other options"));
    f = fopen(file, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    bytes = ftell(f);
    fclose(f);
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

/* ---- the estimate of what is left ---- */

/* Twelve points of a hundredth each have taken 12, 8, 12, 8 ... runs: at 10
 * runs a hundredth, 88 hundredths, or 880 runs, are left. */
TEST(an_estimate_is_the_ratio_with_its_error)
{
    struct sim_estimate e;
    double error;
    double left;

    sim_estimate_begin(&e);
    assert_true(sim_estimate_left(&e, &error) == 0);
    for (uint32_t i = 1; i <= 12; i++)
        sim_estimate_add(&e, 10 * i + (i % 2 != 0 ? 2 : 0), 0.01 * i);
    left = sim_estimate_left(&e, &error);
    assert_true(left > 879.9 && left < 880.1);
    /* The standard error is sqrt(12 * 12 / 11 * 4) / 0.12 = 60.3. */
    assert_true(error > 60.2 && error < 60.4);
}

struct told {
    struct sim_progress last;
    uint32_t times;
};

static void
note_progress(void *context, const struct sim_progress *p)
{
    struct told *told = context;

    assert_true(p->runs >= told->last.runs);
    assert_true(p->share >= 0 && p->share <= 1);
    told->last = *p;
    told->times++;
}

TEST(a_search_tells_how_far_it_is)
{
    struct told told = {.times = 0};
    const struct sim_exhaust_options options = {.time_ms = 1000,
                                                .alone_ms = 1,
                                                .jobs = 2,
                                                .progress = note_progress,
                                                .progress_context = &told};

    exhaust(fixtures_seqlock(3, 3), options);
    assert_true(told.times >= 2);
    assert_true(told.last.runs > 0 && told.last.share > 0);
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
    /* Of 256 runs, then 512 and so on, a quarter are random each time, divided
     * among three strategies. */
    assert_int_equal(once.sampled,
                     3 * (256 / 12 + 512 / 12 + 1024 / 12 + 2048 / 12));
    assert_int_equal(again.sampled, once.sampled);
    expect_same(&again, &once);
}

/* Of each process's runs a quarter are random, in slices that double. */
TEST(random_runs_of_several_processes_are_counted)
{
    const struct sim_exhaust_options options = {
        .portfolio = true, .jobs = 2, .alone_ms = 1};
    const struct sim_exhaust_result r =
        exhaust(fixtures_seqlock(3, 2), options);

    assert_true(r.sampled >= (r.runs - 3 * 256) / 8);
}

/* The first choice decides, and a depth-first search changes it last. */
TEST(a_random_run_finds_what_depth_comes_to_late)
{
    struct sim_exhaust_options options = {.runs_max = 20000};
    const struct sim_exhaust_result plain = exhaust(&fixtures_early, options);
    struct sim_exhaust_result r;

    assert_int_equal(plain.verdict, SIM_VERDICT_UNFINISHED);
    options.portfolio = true;
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        options.jobs = jobs;
        options.alone_ms = 1;
        r = exhaust(&fixtures_early, options);
        assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
        assert_true(r.runs < 1000);
        /* With several processes one begins at the other value of that
         * choice. */
        assert_true(r.found_by_sampling || jobs > 1);
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
