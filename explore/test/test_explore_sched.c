/*
 * test_explore_sched.c -- random schedulers against the chances that theory
 * promises. Seeds are fixed, so the outcome changes only with the code.
 *
 * build: not=asan
 */
#include "explore/test/kernels/cases.h"
#include "explore/textbook/textbook.h"
#include "explore/engine/tsan.h"

#include <stdlib.h>
#include <string.h>

#include "common/test/unit_test.h"

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

/* ---- The law of each strategy ---- */

enum { LAW_THREADS = 3, LAW_STEPS = 6, LAW_ORDERS = 729, LAW_RUNS = 20000 };

static uint32_t law_place;
static uint32_t law_order; /* which thread made each step: a digit each */
static double law[LAW_ORDERS];
static uint32_t law_seen[LAW_ORDERS];

/* Thread 0 makes one step, thread 1 two, thread 2 three. */
static void
law_body(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i <= thread; i++) {
        (void)__tsan_atomic32_fetch_add(&law_place, 1, __ATOMIC_RELAXED);
        law_order = law_order * LAW_THREADS + thread;
    }
}

static void
law_begin(void *context)
{
    (void)context;
    law_place = law_order = 0;
}

static void
law_count(void *context, const struct sim_run *run)
{
    uint32_t *runs = context;

    assert_int_equal(run->end, SIM_END_COMPLETE);
    /* The first run only learns how long the threads are. */
    law_seen[law_order] += (*runs)++ > 0;
}

/* A run so far. A thread stands before its next step. */
struct walk {
    enum sim_strategy strategy;
    uint32_t made[LAW_THREADS];
    uint32_t count;
    uint32_t order;
    uint32_t current; /* LAW_THREADS: the run begins */
    uint32_t stalled;
    uint32_t from; /* it stands still after this many steps ... */
    uint32_t left; /* ... at so many choices */
};

/* List who may run: the current thread, then the others. */
static uint32_t
list_ready(const struct walk *w, uint32_t *ready)
{
    uint32_t count = 0;

    if (w->current < LAW_THREADS && w->made[w->current] <= w->current)
        ready[count++] = w->current;
    for (uint32_t t = 0; t < LAW_THREADS; t++) {
        if (t != w->current && w->made[t] <= t)
            ready[count++] = t;
    }
    return count;
}

static void
walk_on(struct walk w, double chance)
{
    uint32_t ready[LAW_THREADS];
    double chances[LAW_THREADS] = {0};
    const uint32_t count = list_ready(&w, ready);
    const bool stalls = w.strategy == SIM_STRATEGY_STALL && count > 1 &&
                        w.left > 0 && w.made[w.stalled] + 1 > w.from;

    if (count == 0) {
        law[w.order] += chance;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool passed = stalls && ready[i] == w.stalled;

        chances[passed ? (i + 1) % count : i] +=
            w.strategy == SIM_STRATEGY_URW
                ? (double)(ready[i] + 1 - w.made[ready[i]]) /
                      (LAW_STEPS - w.count)
                : 1.0 / count;
    }
    w.left -= stalls;
    for (uint32_t i = 0; i < count; i++) {
        struct walk next = w;

        next.current = ready[i];
        next.made[ready[i]]++;
        next.count++;
        next.order = w.order * LAW_THREADS + ready[i];
        if (chances[i] > 0)
            walk_on(next, chance * chances[i]);
    }
}

/* In a window between sites, `from` is how many steps come before it. */
static void
law_of_stall(bool window, uint32_t from)
{
    for (uint32_t t = 0; t < LAW_THREADS; t++) {
        const uint32_t most = window ? from : t + 1;
        const double chance =
            1.0 / LAW_THREADS / (most - from + 1) / (LAW_STEPS + 1);

        for (uint32_t after = from; after <= most; after++) {
            for (uint32_t left = 1; left <= LAW_STEPS + 1; left++)
                walk_on((struct walk){.strategy = SIM_STRATEGY_STALL,
                                      .current = LAW_THREADS,
                                      .stalled = t,
                                      .from = after,
                                      .left = left},
                        chance);
        }
    }
}

/* The order that these priorities and changes lead to. At a change the thread
 * that comes to its next step falls below all others. */
static uint32_t
order_by_priority(uint32_t *priority, const uint32_t *changes, uint32_t depth)
{
    uint32_t made[LAW_THREADS] = {0};
    uint32_t order = 0;
    uint32_t steps = 0;

    for (uint32_t i = 0; i < LAW_THREADS + LAW_STEPS; i++) {
        uint32_t t = i; /* first each thread comes to its first step */

        if (i >= LAW_THREADS) {
            t = LAW_THREADS;
            for (uint32_t j = 0; j < LAW_THREADS; j++) {
                if (made[j] <= j &&
                    (t == LAW_THREADS || priority[j] > priority[t]))
                    t = j;
            }
            order = order * LAW_THREADS + t;
            if (++made[t] > t)
                continue;
        }
        steps++;
        for (uint32_t j = 0; j + 1 < depth; j++) {
            if (changes[j] == steps)
                priority[t] = j;
        }
    }
    return order;
}

static void
law_of_pct(uint32_t depth, double chance)
{
    uint32_t tuples = 1;

    for (uint32_t i = 1; i < depth; i++)
        tuples *= LAW_STEPS;
    for (uint32_t n = 0; n < 6 * tuples; n++) {
        const uint32_t first = n % 3;
        const uint32_t second = (first + 1 + n / 3 % 2) % 3;
        uint32_t priority[LAW_THREADS];
        uint32_t changes[4];
        uint32_t rest = n / 6;

        priority[first] = 12;
        priority[second] = 11;
        priority[3 - first - second] = 10;
        for (uint32_t i = 0; i + 1 < depth; i++) {
            changes[i] = 1 + rest % LAW_STEPS;
            rest /= LAW_STEPS;
        }
        law[order_by_priority(priority, changes, depth)] +=
            chance / (6 * tuples);
    }
}

static const struct sim_kernel law_kernel = {
    .name = "law",
    .setup = law_begin,
    .threads = {{.name = "one", .body = law_body},
                {.name = "two", .body = law_body},
                {.name = "three", .body = law_body}},
    .threads_count = LAW_THREADS};

static void
check_law(struct sim_run_options run)
{
    uint32_t runs = 0;
    const struct sim_sample_options options = {.run = run,
                                               .runs = LAW_RUNS + 1,
                                               .seed = 9,
                                               .after_run = law_count,
                                               .after_run_context = &runs};
    struct sim_exhaust_result r;
    double sum = 0;

    memset(law_seen, 0, sizeof law_seen);
    sim_explore_sample(&law_kernel, &options, &r);
    assert_int_equal(runs, LAW_RUNS + 1);
    for (uint32_t i = 0; i < LAW_ORDERS; i++) {
        const double expected = law[i] * LAW_RUNS;
        const double off = law_seen[i] - expected;

        sum += law[i];
        /* Six standard deviations of a Poisson law, and a few runs. */
        if (off * off > 36 * expected + (expected > 0 ? 25 : 0))
            fail_msg("strategy %d, depth %u: %u runs of order %u, not %.1f",
                     run.strategy, run.pct_depth, law_seen[i], i, expected);
    }
    assert_true(sum > 0.999999 && sum < 1.000001);
    memset(law, 0, sizeof law);
}

TEST(each_strategy_makes_each_order_as_often_as_it_should)
{
    static const enum sim_strategy walks[] = {SIM_STRATEGY_RANDOM,
                                              SIM_STRATEGY_URW};
    struct sim_run_options run = {.strategy = SIM_STRATEGY_PCT};

    for (uint32_t i = 0; i < 2; i++) {
        walk_on((struct walk){.strategy = walks[i], .current = LAW_THREADS}, 1);
        check_law((struct sim_run_options){.strategy = walks[i]});
    }
    law_of_stall(false, 0);
    check_law((struct sim_run_options){.strategy = SIM_STRATEGY_STALL});
    for (run.pct_depth = 1; run.pct_depth <= 6; run.pct_depth++) {
        law_of_pct(run.pct_depth < 5 ? run.pct_depth : 5, 1);
        check_law(run); /* at most 5 */
    }
    for (uint32_t depth = 1; depth <= 5; depth++)
        law_of_pct(depth, 0.2);
    run.pct_depth = 0;
    check_law(run);
}

/* All steps have one site: it is the next one of each thread, and the last one
 * of those that have made a step. */
TEST(a_thread_stands_still_between_the_two_sites)
{
    struct sim_run_options run = {.strategy = SIM_STRATEGY_STALL};
    struct sim_site sites[2];
    uintptr_t site;

    assert_int_equal(sim_explore_sites(&law_kernel, 1, sites, 2), 1);
    site = sites[0].site;
    for (uint32_t from = 0; from < 3; from++) {
        for (uint32_t to = 0; to < 3; to++) {
            if (from + to == 0)
                continue;
            run.stall_from_site = from == 0 ? 0 : site + from - 1;
            run.stall_to_site = to == 0 ? 0 : site + to - 1;
            if (from < 2 && to < 2)
                law_of_stall(true, from);
            else /* another site: nobody is there */
                walk_on((struct walk){.current = LAW_THREADS}, 1);
            check_law(run);
        }
    }
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
            s == SIM_STRATEGY_STALL ? &fixtures_lapped
            : s == SIM_STRATEGY_PCT ? &fixtures_needle
                                    : &fixtures_early;
        struct sim_exhaust_result r;
        struct sim_choices choices;
        struct sim_choice list[256];
        uint32_t values[256];
        struct sim_run run;

        sim_explore_sample(kernel, &options, &r);
        assert_int_equal(r.failures, 1);
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
