/*
 * test_explore_sched.c -- random schedulers against the chances that theory
 * promises.
 *
 * Seeds are fixed, so the outcome changes only with the code. A correct
 * scheduler misses a limit with a chance below 1e-9; the tests also show that a
 * wrong one misses it.
 */
#include "cases.h"
#include "textbook.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

static struct sim_exhaust_result
sample(const struct sim_kernel *kernel, struct sim_run_options run,
       uint64_t runs, uint64_t seed)
{
    const struct sim_sample_options options = {
        .run = run, .runs = runs, .seed = seed, .keep_going = true};
    struct sim_exhaust_result r;

    sim_explore_sample(kernel, &options, &r);
    if (r.failures > 0)
        free(r.choices);
    return r;
}

/* ---- URW ---- */

enum { ORDERS = 10, ORDER_RUNS = 100000 };

struct tally {
    uint64_t count[32]; /* by the places of thread 1's steps in the order */
    uint64_t runs;
};

static void
count_order(void *context, const struct sim_run *run)
{
    struct tally *t = context;

    (void)run;
    assert_true(fixtures_order < 32);
    /* The first run only learns how long the threads are, so it is not
     * counted. */
    if (t->runs++ > 0)
        t->count[fixtures_order]++;
}

/* Chi-square of the ten interleavings: nine degrees of freedom. */
static double
chi_square(enum sim_strategy strategy)
{
    struct tally t = {.runs = 0};
    const struct sim_sample_options options = {
        .run = {.strategy = strategy},
        .runs = ORDER_RUNS + 1,
        .seed = 1,
        .after_run = count_order,
        .after_run_context = &t,
    };
    const double expected = (double)ORDER_RUNS / ORDERS;
    struct sim_exhaust_result r;
    double sum = 0;
    uint32_t seen = 0;

    sim_explore_sample(&fixtures_three_and_two, &options, &r);
    assert_int_equal(r.failures, 0);
    for (uint32_t i = 0; i < 32; i++) {
        const double off = (double)t.count[i] - expected;

        if (t.count[i] == 0)
            continue;
        seen++;
        sum += off * off / expected;
    }
    assert_int_equal(seen, ORDERS);
    return sum;
}

TEST(urw_makes_all_interleavings_equally_likely)
{
    /* P(chi-square with 9 degrees of freedom > 60.66) = 1e-9 */
    assert_true(chi_square(SIM_STRATEGY_URW) < 60.66);
    /* Power: a sampler that chooses uniformly among threads fails the test. */
    assert_true(chi_square(SIM_STRATEGY_RANDOM) > 60.66);
}

/* ---- PCT ---- */

/*
 * The bug has depth 2: it needs one switch at one step. For n threads and k
 * steps PCT promises a chance of at least 1 / (n k). Here n = 2, and k is the
 * steps of the needle plus the one step of the other thread.
 */
TEST(pct_hits_a_bug_of_depth_two_as_often_as_promised)
{
    enum { RUNS = 220000 };
    const double bound = 1.0 / (2 * (FIXTURES_NEEDLE_STEPS + 1));
    const double mean = bound * RUNS;
    struct sim_exhaust_result pct;
    struct sim_exhaust_result random;

    pct = sample(
        &fixtures_needle,
        (struct sim_run_options){.strategy = SIM_STRATEGY_PCT, .pct_depth = 2},
        RUNS, 7);
    /* Chernoff bound: P(X < (1 - d) m) < exp(-m d^2 / 2) = 1e-9 at d = 0.1. */
    assert_true(mean * 0.1 * 0.1 / 2 > 20.7);
    assert_true((double)pct.failures > 0.9 * mean);
    /* A uniform random schedule needs 22 equal choices in a row: a chance of
     * 2^-23. */
    random = sample(&fixtures_needle, (struct sim_run_options){0}, RUNS, 7);
    assert_true(random.failures < 10);
}

TEST(pct_of_depth_one_runs_each_thread_first_half_of_the_time)
{
    enum { RUNS = 20000 };
    struct sim_exhaust_result r;

    /* Which of two whole threads runs first is a coin toss: one graph or the
     * other. */
    r = sample(
        fixtures_litmus(FIXTURES_CORR),
        (struct sim_run_options){.strategy = SIM_STRATEGY_PCT, .pct_depth = 1},
        RUNS, 3);
    /* If the writer is first, three values can be seen, in order; otherwise
     * only zeros. */
    assert_int_equal(r.states, 6);
    r = sample(
        &fixtures_needle,
        (struct sim_run_options){.strategy = SIM_STRATEGY_PCT, .pct_depth = 1},
        RUNS, 3);
    assert_int_equal(r.failures, 0); /* never between the two steps */
}

/* ---- Stall ---- */

TEST(stall_windows_reach_what_needs_a_long_pause)
{
    enum { RUNS = 20000 };
    struct sim_site sites[32];
    uint32_t sites_count;
    struct sim_run_options stall = {.strategy = SIM_STRATEGY_STALL};
    struct sim_exhaust_result anywhere;
    struct sim_exhaust_result between;
    struct sim_exhaust_result random;

    random = sample(&fixtures_lapped, (struct sim_run_options){0}, RUNS, 11);
    anywhere = sample(&fixtures_lapped, stall, RUNS, 11);
    assert_true(anywhere.failures > 100 * (random.failures + 1));
    /* The stall must be between the two accesses of one thread. */
    sites_count = sim_explore_sites(&fixtures_lapped, 20, sites, 32);
    assert_true(sites_count >= 2 && sites_count < 32);
    for (uint32_t i = 0; i < sites_count; i++) {
        for (uint32_t j = 0; j < sites_count; j++) {
            stall.stall_from_site = sites[i].site;
            stall.stall_to_site = sites[j].site;
            between = sample(&fixtures_lapped, stall, RUNS, 11);
            if (between.failures > anywhere.failures)
                return;
        }
    }
    fail_msg("no window between two sites helps");
}

/* ---- All ---- */

TEST(every_strategy_finds_every_graph_of_a_small_program)
{
    for (uint32_t s = 0; s < SIM_STRATEGY_COUNT; s++) {
        const struct sim_run_options run = {.strategy = (enum sim_strategy)s};
        struct sim_exhaust_result r =
            sample(fixtures_seqlock(2, 1), run, 50000, 1);

        assert_int_equal(r.failures, 0);
        assert_int_equal(r.states, 39);
    }
}

TEST(what_a_guided_run_found_replays_as_a_plain_list)
{
    for (uint32_t s = 0; s < SIM_STRATEGY_COUNT; s++) {
        const struct sim_sample_options options = {
            .run = {.strategy = (enum sim_strategy)s},
            .runs = 1000000,
            .seed = 5};
        const struct sim_kernel *kernel =
            s == SIM_STRATEGY_STALL ? &fixtures_lapped : &fixtures_needle;
        struct sim_exhaust_result r;
        struct sim_choices choices;
        struct sim_choice list[256];
        uint32_t values[256];
        struct sim_run run;

        if (s == SIM_STRATEGY_RANDOM || s == SIM_STRATEGY_URW)
            kernel = fixtures_litmus(FIXTURES_SB_RELAXED);
        sim_explore_sample(kernel, &options, &r);
        if (r.failures == 0)
            continue; /* the litmus test has no failure */
        assert_true(r.choices_count <= 256);
        for (uint32_t i = 0; i < r.choices_count; i++)
            values[i] = r.choices[i].value;
        sim_choices_init(&choices, list, 256);
        sim_choices_replay(&choices, values, r.choices_count);
        sim_explore_run(kernel, &(struct sim_run_options){0}, &choices, &run);
        assert_int_equal(run.end, SIM_END_FAILED);
        assert_int_equal(run.graph[0], r.first_failure.graph[0]);
        assert_int_equal(run.graph[1], r.first_failure.graph[1]);
        free(r.choices);
    }
}

TEST(one_seed_gives_one_run)
{
    const struct sim_kernel *kernel = fixtures_seqlock(2, 2);
    struct sim_choice list[512];
    struct sim_choices choices;
    struct sim_run first;
    struct sim_run second;

    sim_choices_init(&choices, list, 512);
    for (uint64_t seed = 0; seed < 500; seed++) {
        uint64_t hash;

        sim_choices_random(&choices, seed);
        sim_explore_run(kernel, &(struct sim_run_options){0}, &choices, &first);
        hash = sim_choices_hash(&choices);
        sim_choices_random(&choices, seed);
        sim_explore_run(kernel, &(struct sim_run_options){0}, &choices,
                        &second);
        assert_int_equal(hash, sim_choices_hash(&choices));
        assert_memory_equal(first.graph, second.graph, sizeof first.graph);
        assert_int_equal(first.steps, second.steps);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
