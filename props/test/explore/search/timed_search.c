/* timed_search.c -- see timed_search.h. */
#include "timed_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blocks.h"
#include "lists.h"
#include "tsan.h"
#include "unit_test.h"

uint64_t timed_clock_us;

/* 32 runs, after which a search reads its clock, take 0.1 s. */
enum { RUN_US = 3125, BEGIN_US = 7000000 };

/* ---- Searches ---- */

int __wrap_fsync(int descriptor);

int
__wrap_fsync(int descriptor)
{
    (void)descriptor;
    return 0;
}

enum { TOLD_MAX = 64, COPIES_MAX = 20 };

static char file[64];
static char copies[COPIES_MAX][80];
static uint32_t copies_to = COPIES_MAX; /* COPIES_MAX: none are made */

static struct timed {
    uint64_t runs; /* of this search */
    struct sim_progress told[TOLD_MAX];
    uint32_t told_count;
    ino_t inode; /* of the file; 0: there is none */
    uint32_t saves;
    uint64_t saved_at[COPIES_MAX]; /* runs of this search */
} timed;

static ino_t
inode_of_file(void)
{
    struct stat like;

    return stat(file, &like) == 0 ? like.st_ino : 0;
}

static void
look_at_file(void)
{
    const ino_t inode = inode_of_file();

    if (inode == timed.inode)
        return;
    timed.inode = inode;
    assert_true(timed.saves < COPIES_MAX);
    if (copies_to + timed.saves < COPIES_MAX)
        assert_int_equal(link(file, copies[copies_to + timed.saves]), 0);
    timed.saved_at[timed.saves++] = timed.runs;
}

/* A search writes its file between two runs. */
static void
end_run(void *context, const struct sim_run *run)
{
    (void)context;
    (void)run;
    look_at_file();
    timed.runs++;
    timed_clock_us += RUN_US;
}

static void
note(void *context, const struct sim_progress *progress)
{
    (void)context;
    assert_true(timed.told_count < TOLD_MAX);
    timed.told[timed.told_count++] = *progress;
}

static void
choose_five(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < 5; i++)
        (void)sim_explore_choose(4, SIM_DATA);
}

static struct sim_kernel
kernel_of(const char *name, void (*body)(void *context, uint32_t thread))
{
    return (struct sim_kernel){.name = name,
                               .about = "any",
                               .threads = {{"t", body, NULL}},
                               .threads_count = 1};
}

static struct sim_exhaust_result
search(const struct sim_kernel *kernel, struct sim_exhaust_options options)
{
    static const char *before;
    const uint32_t blocks_before = blocks_guarded();
    struct sim_exhaust_result r;

    memset(&timed, 0, sizeof timed);
    timed.inode = inode_of_file();
    options.progress = note;
    options.after_run = end_run;
    timed_clock_us = BEGIN_US;
    sim_explore_exhaust(kernel, &options, &r);
    timed_clock_us = 0;
    assert_string_equal(r.trouble, "");
    if (kernel->name == before) /* the first one makes what others use, too */
        assert_in_range(blocks_guarded(), 0, blocks_before + (r.failures > 0));
    before = kernel->name;
    return r;
}

static bool
is_near(double a, double b)
{
    return a > b - 1e-6 && a < b + 1e-6;
}

/* All lists have the same share, so what is left is known. */
static void
check_told(uint32_t first, uint32_t i, uint64_t runs, uint64_t before)
{
    const struct sim_progress *p = &timed.told[first + i];

    assert_true(first + i < timed.told_count);
    assert_int_equal(p->runs, runs);
    assert_int_equal(p->graphs, runs);
    assert_true(p->share == (double)runs / LISTS);
    assert_int_equal(p->took_ms, (before + runs) * RUN_US / 1000);
    assert_true(is_near(p->left, i < 3 ? 0 : LISTS - (double)runs));
    assert_true(is_near(p->left_error, 0));
}

/* After 0.1 s, and then after each 0.2 s. */
void
timed_search_tells(void)
{
    const struct sim_kernel kernel = kernel_of("five", choose_five);

    for (uint32_t i = 0; i < 4; i++) {
        const struct sim_exhaust_result r = search(
            &kernel, (struct sim_exhaust_options){.alone_ms = 100,
                                                  .jobs = i % 2,
                                                  .by_schedules = i / 2 != 0});

        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.runs, LISTS);
        assert_int_equal(r.graphs, LISTS);
        assert_int_equal(timed.told_count, LISTS / 64);
        for (uint32_t k = 0; k < timed.told_count; k++)
            check_told(0, k, 32 + 64 * k, 0);
    }
}

/* After 600 runs it is known that it must go by schedules. */
void
timed_search_begins_again(void)
{
    const struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_exhaust_result r;

    lists_fork = 600;
    r = search(&kernel, (struct sim_exhaust_options){.alone_ms = 100});
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.runs, LISTS);
    assert_int_equal(timed.told_count, 9 + LISTS / 64);
    for (uint32_t k = 0; k < LISTS / 64; k++)
        check_told(9, k, 32 + 64 * k, 600);
}

/* It looks again when the time is over, and not before. */
void
timed_search_is_late(void)
{
    const struct sim_kernel kernel = kernel_of("five", choose_five);

    for (uint64_t most = 1; most <= 2 * LISTS; most *= 2) {
        const struct sim_exhaust_result r =
            search(&kernel, (struct sim_exhaust_options){.runs_max = most});

        assert_int_equal(r.verdict, most < LISTS ? SIM_VERDICT_UNFINISHED
                                                 : SIM_VERDICT_PASS);
        assert_int_equal(r.runs, most < LISTS ? most : LISTS);
    }
    for (uint64_t ms = 900; ms <= 1000; ms += 25) {
        const struct sim_exhaust_result r =
            search(&kernel, (struct sim_exhaust_options){.alone_ms = 100,
                                                         .time_ms = ms});

        assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
        assert_int_equal(r.runs, ms == 900 ? 288 : 320);
        assert_int_equal(timed.told_count, ms == 900 ? 5 : 6);
    }
}

/* ---- Files ---- */

static void
make_names(void)
{
    snprintf(file, sizeof file, "/tmp/profsim-timed-%d", (int)getpid());
    remove(file);
    for (uint32_t i = 0; i < COPIES_MAX; i++) {
        snprintf(copies[i], sizeof copies[i], "%s.%u", file, i);
        remove(copies[i]);
    }
}

static uint32_t word;
static uint32_t other_word;

static void
add(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < (thread == 0 ? 2U : 3U); i++)
        (void)__tsan_atomic32_fetch_add(&word, 1, __ATOMIC_RELAXED);
}

/* Only one of 256 lists has a store that the load can wait for. No thread does
 * more than its first access before the others have begun. */
static void
store_rarely(void *context, uint32_t thread)
{
    uint32_t sum = 0;

    (void)context;
    if (thread == 0) {
        (void)__tsan_atomic32_load(&word, __ATOMIC_RELAXED);
        return;
    }
    (void)__tsan_atomic32_load(&other_word, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < 4; i++)
        sum = 4 * sum + sim_explore_choose(4, SIM_DATA);
    if (sum == 128)
        __tsan_atomic32_store(&word, 1, __ATOMIC_RELAXED);
}

static void
clear_word(void *context)
{
    (void)context;
    word = 0;
}

static bool all_count; /* runs: none is cut */

static void
check_whole(const struct sim_exhaust_result *r,
            const struct sim_exhaust_result *whole)
{
    assert_int_equal(r->verdict, SIM_VERDICT_PASS);
    assert_int_equal(r->graphs, whole->graphs);
    assert_int_equal(r->graphs_sum, whole->graphs_sum);
    assert_int_equal(access(file, F_OK), -1);
}

/* Go on from the file of a search that had made `runs`. */
static void
go_on(const struct sim_kernel *kernel,
      const struct sim_exhaust_options *options, uint64_t runs,
      const struct sim_exhaust_result *whole)
{
    const struct sim_exhaust_result r = search(kernel, *options);

    assert_true(r.resumed);
    check_whole(&r, whole);
    if (!all_count)
        return;
    assert_int_equal(r.runs, whole->runs);
    assert_int_equal(timed.runs, whole->runs - runs);
    if (timed.told_count > 0) {
        assert_int_equal(timed.told[0].runs, runs + 32);
        assert_int_equal(timed.told[0].took_ms, runs * RUN_US / 1000 + 100);
    }
}

/* Each file of a search, and of one that went on from the first of them. */
static void
check_saves(const struct sim_kernel *kernel, struct sim_exhaust_options options,
            uint32_t checkpoint_ms)
{
    uint64_t saved_at[COPIES_MAX];
    struct sim_exhaust_result whole;
    uint32_t saves;

    options.alone_ms = 100;
    options.checkpoint = file;
    options.checkpoint_ms = checkpoint_ms;
    copies_to = 0;
    whole = search(kernel, options);
    check_whole(&whole, &whole);
    saves = timed.saves;
    assert_int_equal(saves, all_count ? (whole.runs - 97) / 128 + 1 : 4);
    memcpy(saved_at, timed.saved_at, sizeof saved_at);
    for (uint32_t i = 0; i < saves; i++) {
        assert_int_equal(rename(copies[i], file), 0);
        copies_to = i == 0 ? saves : COPIES_MAX;
        go_on(kernel, &options, saved_at[i], &whole);
        if (i > 0)
            continue;
        for (uint32_t k = 0; k < timed.saves; k++)
            saved_at[saves + k] = saved_at[0] + timed.saved_at[k];
        saves += timed.saves;
    }
    copies_to = COPIES_MAX;
}

void
timed_search_is_saved(void)
{
    const struct sim_kernel five = kernel_of("five", choose_five);
    struct sim_kernel adds = kernel_of("adds", add);
    struct sim_kernel rare = kernel_of("rare", store_rarely);

    for (uint32_t i = 1; i < 3; i++)
        adds.threads[i] = adds.threads[0];
    adds.threads_count = 3;
    adds.setup = clear_word;
    rare.threads[1] = rare.threads[0];
    rare.threads_count = 2;
    rare.setup = clear_word;
    make_names();
    all_count = true;
    check_saves(&five, (struct sim_exhaust_options){.jobs = 1}, 250);
    check_saves(&five, (struct sim_exhaust_options){.by_schedules = true}, 250);
    check_saves(&adds, (struct sim_exhaust_options){.jobs = 0}, 250);
    all_count = false;
    check_saves(&rare, (struct sim_exhaust_options){.jobs = 0}, 1);
}

static bool differs; /* or fails: after that many runs */
static uint64_t made;

/* A run that is checked against the first one is counted, too. */
static void
choose_until(void *context, uint32_t thread)
{
    uint32_t bound = 4;

    (void)context;
    (void)thread;
    made++;
    for (uint32_t i = 0; i < 5; i++) {
        if (differs && i == 1 && timed.runs == 40)
            bound = 5;
        (void)sim_explore_choose(bound, SIM_DATA);
    }
    if (!differs && timed.runs == 40)
        sim_explore_fail("it is the 41st");
}

/* What a search has found is in no file, so a failure is found again. */
void
timed_search_leaves_file(void)
{
    const struct sim_kernel kernel = kernel_of("until", choose_until);
    const struct sim_exhaust_options options = {
        .alone_ms = 100, .checkpoint = file, .checkpoint_ms = 1};
    struct sim_exhaust_options keep_on = options;
    struct sim_exhaust_result r;

    make_names();
    differs = false;
    r = search(&kernel, options);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    assert_int_equal(r.runs, 41);
    assert_int_equal(timed.saves, 1);
    assert_int_equal(inode_of_file(), 0);
    free(r.choices);
    keep_on.keep_going = true;
    r = search(&kernel, keep_on);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    assert_int_equal(r.failures, 1);
    assert_int_equal(r.runs, LISTS);
    assert_int_equal(inode_of_file(), 0);
    free(r.choices);
    differs = true;
    r = search(&kernel, options);
    assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
    assert_string_equal(
        r.difference,
        "question 2 is another one when the same run is repeated");
    assert_int_equal(r.runs, 41);
    assert_int_equal(timed.saves, 1);
    assert_int_equal(inode_of_file(), timed.inode); /* as it was */
    remove(file);
}

static void
hold(void *context)
{
    (void)context;
}

static void
fail_always(void *context)
{
    (void)context;
    sim_explore_fail("it always does");
}

/* Graph by graph, unless an option or the kernel asks for schedules. */
void
timed_search_is_reduced(void)
{
    const struct sim_exhaust_options options[] = {
        {.jobs = 0},          {.run.bounded = true},  {.run.lazy_start = true},
        {.no_pruning = true}, {.by_schedules = true}, {.jobs = 0}};
    struct sim_kernel kernel = kernel_of("adds", add);
    struct sim_exhaust_result r;

    kernel.threads[1] = kernel.threads[0];
    kernel.threads_count = 2;
    kernel.setup = clear_word;
    r = search(&kernel, (struct sim_exhaust_options){.by_schedules = true,
                                                     .states_max = 10});
    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    assert_int_equal(r.states, 10);
    kernel.finish = fail_always;
    for (uint32_t i = 0; i < 6; i++) {
        kernel.invariant = i == 5 ? hold : NULL;
        r = search(&kernel, options[i]);
        assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
        assert_true(r.options.reduced == (i == 0));
        free(r.choices);
    }
}
