/*
 * test_explore_shards.c -- independent shards of a search together find all
 * graphs, each once.
 */
#include "sources_parts.h"
#include "textbook.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

static char file[] = "/tmp/profsim-shards-XXXXXX";

static struct sim_exhaust_result
exhaust(const struct sim_kernel *kernel, struct sim_exhaust_options options)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &options, &r);
    assert_string_equal(r.trouble, "");
    assert_int_equal(r.failures, 0);
    return r;
}

static const struct sim_kernel *
kernel_numbered(uint32_t i)
{
    return i == 0   ? fixtures_seqlock(3, 2)
           : i == 1 ? fixtures_counter(4)
                    : fixtures_seqlock(1, 3);
}

/* Search one shard. If runs are left to do, the shard is not complete. */
typedef struct sim_exhaust_result
search_shard(const struct sim_kernel *kernel,
             struct sim_exhaust_options options);

static void
expect_whole(const struct sim_kernel *kernel,
             struct sim_exhaust_options options, uint32_t shards,
             search_shard *search)
{
    const struct sim_exhaust_result plain = exhaust(kernel, options);
    uint64_t graphs = 0;
    uint64_t sum = 0;

    for (uint32_t i = 1; i <= shards; i++) {
        struct sim_exhaust_result r;

        options.shard = i;
        options.shards = shards;
        r = search(kernel, options);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        graphs += r.graphs;
        sum += r.graphs_sum;
    }
    assert_int_equal(graphs, plain.graphs);
    assert_int_equal(sum, plain.graphs_sum);
}

TEST(shards_find_each_graph_once)
{
    static const uint32_t shards[] = {1, 2, 7, 64};

    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t most = i == 1 ? 4 : 2; /* 64 of the small kernel */

        for (uint32_t k = 0; k < most; k++)
            expect_whole(kernel_numbered(i), (struct sim_exhaust_options){0},
                         shards[k], exhaust);
    }
}

TEST(no_shard_of_seven_is_idle_or_does_it_all)
{
    const struct sim_exhaust_result plain =
        exhaust(fixtures_seqlock(3, 2), (struct sim_exhaust_options){0});

    for (uint32_t i = 1; i <= 7; i++) {
        const struct sim_exhaust_options options = {.shard = i, .shards = 7};
        const struct sim_exhaust_result r =
            exhaust(fixtures_seqlock(3, 2), options);

        assert_in_range(r.graphs, plain.graphs / 21, plain.graphs / 3);
        assert_true(r.shard_depth > 0);
    }
}

TEST(the_first_shard_does_what_is_not_split)
{
    const struct sim_exhaust_options options = {.by_schedules = true};
    struct sim_exhaust_options second = {
        .by_schedules = true, .shard = 2, .shards = 3};

    expect_whole(fixtures_counter(3), options, 3, exhaust);
    assert_int_equal(exhaust(fixtures_counter(3), second).graphs, 0);
}

/* If a thread sleeps, two lists of choices may lead to one graph. Two shards
 * would both count it, so one shard does all. */
TEST(the_first_shard_does_all_if_a_thread_sleeps)
{
    const struct sim_exhaust_options second = {.shard = 2, .shards = 7};

    expect_whole(fixtures_mutex2(2), (struct sim_exhaust_options){0}, 7,
                 exhaust);
    assert_int_equal(exhaust(fixtures_mutex2(2), second).graphs, 0);
}

TEST(a_shard_may_have_several_processes)
{
    const struct sim_exhaust_options options = {.jobs = 2, .alone_ms = 1};

    expect_whole(fixtures_counter(4), options, 3, exhaust);
}

/* Every third shard is killed after it has written its checkpoint, and then
 * goes on. */
static struct sim_exhaust_result
search_killed(const struct sim_kernel *kernel,
              struct sim_exhaust_options options)
{
    options.checkpoint = file;
    options.checkpoint_ms = 1;
    if (options.shard % 3 == 0) {
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            options.after_run = NULL;
            sim_explore_exhaust(kernel, &options,
                                &(struct sim_exhaust_result){.runs = 0});
            pause();
        }
        for (uint32_t ms = 0; ms < 10000 && access(file, F_OK) != 0; ms++) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            if (ms == 100 * options.shard)
                break; /* the search had ended before */
        }
        nanosleep(&(struct timespec){.tv_nsec = 700000L * options.shard}, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    return exhaust(kernel, options);
}

TEST(a_killed_shard_goes_on_from_its_file)
{
    expect_whole(fixtures_seqlock(3, 2), (struct sim_exhaust_options){0}, 7,
                 search_killed);
    assert_int_not_equal(access(file, F_OK), 0);
}

/* Search a shard in steps of 100 runs, each by a new search that goes on from
 * the checkpoint. */
static struct sim_exhaust_result
search_stepwise(const struct sim_kernel *kernel,
                struct sim_exhaust_options options)
{
    struct sim_exhaust_result r = {.verdict = SIM_VERDICT_UNFINISHED};

    if (options.shards == 0)
        return exhaust(kernel, options);
    options.checkpoint = file;
    for (uint32_t steps = 0;
         steps < 1000 && r.verdict == SIM_VERDICT_UNFINISHED; steps++) {
        options.runs_max += 100;
        r = exhaust(kernel, options);
        assert_true(r.resumed == (steps > 0));
    }
    return r;
}

TEST(a_shard_goes_on_from_its_file)
{
    expect_whole(fixtures_counter(4), (struct sim_exhaust_options){0}, 7,
                 search_stepwise);
}

/* The checkpoint of one shard is refused by another. */
TEST(a_file_of_another_shard_is_refused)
{
    struct sim_exhaust_options options = {
        .checkpoint = file, .runs_max = 100, .shard = 1, .shards = 2};
    struct sim_exhaust_result r;

    exhaust(fixtures_counter(4), options);
    options.shard = 2;
    sim_explore_exhaust(fixtures_counter(4), &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
    remove(file);
}

/* ---- What each read and store may choose ---- */

TEST(a_read_takes_a_store_that_is_not_hidden)
{
    sources_parts_read();
}

TEST(a_store_goes_in_front_of_what_is_not_known)
{
    sources_parts_stored();
}

TEST(more_than_512_stores_to_choose_from_are_refused)
{
    sources_parts_full();
}

static int
make_name(void **state)
{
    const int fd = mkstemp(file);

    (void)state;
    return fd < 0 || close(fd) != 0 || remove(file) != 0;
}

int
main(void)
{
    return tests_run(make_name, NULL);
}
