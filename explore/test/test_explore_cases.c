/*
 * test_explore_cases.c -- the faults that the explorer must notice, case by
 * case.
 *
 * build: by=gcc,clang
 */
#include "explore/test/kernels/cases.h"
#include "explore/textbook/history.h"
#include "explore/search/visited.h"

#include <stdlib.h>
#include <string.h>

#include "common/test/unit_test.h"

static void
check_case_by(const struct fixtures_case *c, bool by_schedules)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(
        &c->kernel,
        &(struct sim_exhaust_options){.run = {.silent_ms = 100},
                                      .by_schedules = by_schedules},
        &r);
    if (r.first_failure.failure.kind != c->want)
        fail_msg("%s (%s): found '%s: %s', wanted '%s'", c->kernel.about,
                 c->kernel.name,
                 sim_failure_kind_text(r.first_failure.failure.kind),
                 r.first_failure.failure.text, sim_failure_kind_text(c->want));
    if (c->want == SIM_FAIL_NONE) {
        if (r.verdict != SIM_VERDICT_PASS || r.graphs == 0)
            fail_msg("%s: not finished", c->kernel.about);
        return;
    }
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    free(r.choices);
}

static void
check_case(const struct fixtures_case *c)
{
    check_case_by(c, false);
    check_case_by(c, true);
}

TEST(each_case_is_judged_as_it_should_be)
{
    for (uint32_t i = 0; i < fixtures_cases_count; i++)
        check_case(&fixtures_cases[i]);
    for (uint32_t i = 0; i < fixtures_waiting_count; i++)
        check_case(&fixtures_waiting[i]);
    for (uint32_t i = 0; i < fixtures_unruly_count; i++)
        check_case(&fixtures_unruly[i]);
}

TEST(a_kernel_that_is_no_function_of_its_choices_is_refused)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct sim_sample_options some = {.runs = 100};
        struct sim_exhaust_result r;

        sim_explore_exhaust(&fixtures_forgetful[i],
                            &(struct sim_exhaust_options){.runs_max = 1}, &r);
        if (i == 0) /* two dice may show the same */
            assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
        sim_explore_sample(&fixtures_forgetful[0], &some, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
        assert_non_null(strstr(r.difference, "unruly.c:"));
        assert_non_null(strstr(r.difference, "another value or place"));
    }
}

/* The second run does what the first did, and then more. */
TEST(a_kernel_that_does_more_the_second_time_is_refused)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(&fixtures_forgetful[FIXTURES_GROWS],
                        &(struct sim_exhaust_options){.runs_max = 1}, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
    assert_non_null(strstr(r.difference, "comes in addition"));
    sim_explore_exhaust(&fixtures_forgetful[FIXTURES_FAILS_LATER],
                        &(struct sim_exhaust_options){.runs_max = 1}, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
    assert_string_equal(r.difference,
                        "the run passes, and fails when it is repeated");
}

static const struct sim_kernel *
case_named(const char *name)
{
    for (uint32_t i = 0; i < fixtures_cases_count; i++) {
        if (strcmp(fixtures_cases[i].kernel.name, name) == 0)
            return &fixtures_cases[i].kernel;
    }
    fail_msg("no case %s", name);
    return NULL;
}

static void
collect_graph(void *context, const struct sim_run *run)
{
    if (run->end == SIM_END_COMPLETE)
        sim_visited_insert(context, run->graph);
}

/* Compare the graphs of the search without pruning with those of the pruned
 * search. */
static void
compare_graphs(const struct sim_kernel *kernel)
{
    struct sim_visited plain;
    struct sim_exhaust_options options = {.no_pruning = true,
                                          .runs_max = 300000,
                                          .after_run = collect_graph,
                                          .after_run_context = &plain};
    struct sim_exhaust_result r;

    sim_visited_init(&plain, 1 << 20);
    sim_explore_exhaust(kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    options = (struct sim_exhaust_options){.recheck_of_100 = 100};
    sim_explore_exhaust(kernel, &options, &r);
    if (r.verdict != SIM_VERDICT_PASS || r.graphs != plain.count)
        fail_msg("%s: %llu graphs of %llu", kernel->about,
                 (unsigned long long)r.graphs, (unsigned long long)plain.count);
    sim_visited_close(&plain);
}

/* Locks, sleeps, barriers, marks and choices must all be part of a state, or
 * pruning would lose graphs. */
TEST(pruning_loses_no_graph_of_any_case_that_passes)
{
    for (uint32_t i = 0; i < fixtures_cases_count; i++) {
        if (fixtures_cases[i].want == SIM_FAIL_NONE)
            compare_graphs(&fixtures_cases[i].kernel);
    }
    compare_graphs(fixtures_flags(false));
    compare_graphs(&fixtures_three_and_two);
}

/* Whether it waits already when the other thread forks or does not. */
TEST(no_thread_that_is_gone_leaves_its_loop)
{
    const struct sim_kernel *kernel =
        case_named("fork_and_wait/wait_and_answer");
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel,
                        &(struct sim_exhaust_options){.keep_going = true}, &r);
    assert_int_equal(r.graphs, 0);
    assert_int_not_equal(r.failures, 0);
    free(r.choices);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct sim_sample_options options = {.runs = 1, .seed = seed};

        sim_explore_sample(kernel, &options, &r);
        assert_int_equal(r.failures, 1);
        free(r.choices);
    }
}

/* ---- Waiting, faults ---- */

static struct sim_exhaust_result
exhaust_with(const char *name, struct sim_run_options options)
{
    struct sim_exhaust_result r = {.runs = 0};

    options.steps_max = 1000;

    for (uint32_t i = 0; i < fixtures_waiting_count; i++) {
        if (strcmp(fixtures_waiting[i].kernel.name, name) == 0)
            sim_explore_exhaust(&fixtures_waiting[i].kernel,
                                &(struct sim_exhaust_options){.run = options},
                                &r);
    }
    assert_int_not_equal(r.runs, 0);
    free(r.choices);
    return r;
}

static struct sim_exhaust_result
exhaust_waiting(const char *name)
{
    return exhaust_with(name, (struct sim_run_options){0});
}

static struct sim_exhaust_result
exhaust_unrolled(const char *name, uint32_t unroll)
{
    return exhaust_with(name, (struct sim_run_options){.unroll = unroll});
}

/* A lock has one graph for each order of its holders. */
TEST(rounds_of_a_wait_loop_are_no_graphs_of_their_own)
{
    assert_int_equal(exhaust_waiting("ticket/ticket").graphs, 2);
    /* A compiler may peel the first round of the loop; then that round has
     * graphs of its own. */
    assert_in_range(exhaust_waiting("swap/swap").graphs, 2, 4);
    assert_int_equal(exhaust_waiting("ticket/ticket").bounded, 0);
}

TEST(a_loop_that_counts_is_reported_to_be_bounded)
{
    assert_int_not_equal(exhaust_waiting("gives_up_well/raise").bounded, 0);
    assert_int_not_equal(exhaust_waiting("counts_in_memory/raise").bounded, 0);
    assert_int_equal(exhaust_waiting("counts_till_raised/nothing").bounded, 1);
}

/* Of the rounds that are explored, none to all may read the old value. */
TEST(as_many_rounds_of_a_loop_that_counts_are_explored_as_requested)
{
    for (uint32_t unroll = 1; unroll < 8; unroll++) {
        const struct sim_exhaust_result r =
            exhaust_unrolled("counts_in_memory/raise", unroll);

        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_in_range(r.graphs, unroll + 1, 50);
        assert_int_equal(
            exhaust_unrolled("counts_till_raised/raise", unroll).graphs,
            unroll + 1);
    }
}

/* Without preemptions, a thread that waits reads what comes then only in a last
 * round: it may wait on, and in a later loop, too. */
TEST(a_last_round_reports_who_waits_for_ever)
{
    static const char *const names[] = {
        "waits_for_two/raises_if_waited_for",
        "waits_in_turn/raises_if_waited_for",
        "waits_and_stores/raises_if_waited_for"};

    for (uint32_t i = 0; i < 3; i++) {
        const struct sim_exhaust_result r =
            exhaust_with(names[i], (struct sim_run_options){.bounded = true});

        assert_int_equal(r.first_failure.failure.kind,
                         i < 2 ? SIM_FAIL_LIVELOCK : SIM_FAIL_NONE);
    }
}

TEST(a_search_that_ends_no_run_does_not_pass)
{
    struct sim_kernel kernel;
    struct sim_exhaust_result r;

    for (uint32_t i = 0; i < fixtures_waiting_count; i++) {
        if (strcmp(fixtures_waiting[i].kernel.name, "counts_in_memory/raise") ==
            0)
            kernel = fixtures_waiting[i].kernel;
    }
    kernel.threads_count = 1; /* no thread sets the flag */
    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
    assert_int_equal(r.graphs, 0);
    assert_int_equal(r.verdict, SIM_VERDICT_EMPTY);
}

TEST(sampled_waiters_sleep_until_something_changes)
{
    const struct sim_sample_options options = {.runs = 2000, .seed = 5};
    struct sim_exhaust_result r;

    sim_explore_sample(case_named("wait_for_ready/make_ready"), &options, &r);
    assert_int_equal(r.failures, 0);
    assert_int_equal(r.blocked, 0);
    assert_int_equal(r.graphs, 2000);
    sim_explore_sample(case_named("wait_for_ready/nothing"), &options, &r);
    assert_int_equal(r.failures, 1);
    assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_LIVELOCK);
    free(r.choices);
}

TEST(weak_exchanges_fail_spuriously_where_requested_and_visible)
{
    const struct sim_exhaust_options options = {.run = {.spurious_max = 1}};
    struct sim_exhaust_result r;

    sim_explore_exhaust(case_named("weak_once/nothing"), &options, &r);
    /* With clang the weak and the strong compare-exchange make the same
     * call. */
    if (strcmp(EXPLORED_BY, "gcc") == 0)
        assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_CHECK);
    else
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    if (r.failures > 0)
        free(r.choices);
}

TEST(a_sleeper_may_wake_for_nothing_where_requested)
{
    struct sim_exhaust_result r = {.runs = 0};

    for (uint32_t i = 0; i < fixtures_unruly_count; i++) {
        if (strcmp(fixtures_unruly[i].kernel.name, "sleeps-once") == 0)
            sim_explore_exhaust(
                &fixtures_unruly[i].kernel,
                &(struct sim_exhaust_options){.run = {.spurious_max = 1}}, &r);
    }
    assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_CHECK);
    free(r.choices);
}

/* A kernel with two mistakes; the shorter list of choices leads to the
 * second. */
static void
make_one_of_two_mistakes(void *context, uint32_t thread)
{
    const uint32_t mistake = sim_explore_choose(3, SIM_DATA);

    (void)context;
    (void)thread;
    if (mistake == 1)
        sim_explore_fail("the first mistake");
    if (mistake == 2)
        sim_explore_fail("the second mistake");
}

TEST(a_failure_shrinks_to_one_of_the_same_place)
{
    const struct sim_kernel kernel = {
        .name = "two-mistakes",
        .about = "none is made",
        .threads = {{"thread", make_one_of_two_mistakes, NULL}},
        .threads_count = 1,
    };
    struct sim_sample_options options = {.runs = 1};
    struct sim_exhaust_result r;

    do { /* every third of the seeds */
        options.seed++;
        assert_in_range(options.seed, 1, 100);
        sim_explore_sample(&kernel, &options, &r);
        if (r.failures > 0 &&
            strcmp(r.first_failure.failure.text, "the second mistake") == 0)
            break;
        free(r.choices);
    } while (true);
    sim_explore_shrink(&kernel, &r);
    assert_string_equal(r.first_failure.failure.text, "the second mistake");
    assert_int_equal(r.choices_count, 1);
    assert_int_equal(r.choices[0].value, 2);
    free(r.choices);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
