/*
 * test_explore.c -- the explorer against counts and outcomes known from
 * elsewhere.
 *
 * The expected counts of graphs come from an independent model checker (RC11)
 * on the same textbook programs. Both compilers must give the same counts, so
 * this program runs with what gcc, and with what clang makes of them.
 *
 * build: by=gcc,clang
 */
#include "explore/test/kernels/cases.h"
#include "explore/textbook/textbook.h"

#include <stdlib.h>
#include <string.h>

#include "common/test/unit_test.h"

static struct sim_exhaust_result
exhaust(const struct sim_kernel *kernel,
        const struct sim_exhaust_options *options)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, options, &r);
    if (r.failures > 0)
        free(r.choices);
    return r;
}

static void
expect(const struct sim_kernel *kernel, uint64_t graphs)
{
    struct sim_exhaust_options options = {.recheck_of_100 = 1};

    for (uint32_t i = 0; i < 2; i++) {
        struct sim_exhaust_result r;

        options.by_schedules = i == 1;
        r = exhaust(kernel, &options);
        if (r.verdict != SIM_VERDICT_PASS)
            fail_msg("%s: %s", kernel->name, r.first_failure.failure.text);
        assert_int_equal(r.graphs, graphs);
    }
}

TEST(the_seqlock_has_as_many_graphs_as_counted)
{
    static const uint32_t rows[][3] = {{1, 1, 11},   {2, 1, 39},   {1, 2, 121},
                                       {2, 2, 1521}, {3, 2, 9801}, {1, 3, 1331},
                                       {3, 1, 99},   {4, 1, 209}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect(fixtures_seqlock(rows[i][0], rows[i][1]), rows[i][2]);
}

TEST(the_list_table_has_as_many_graphs_as_counted)
{
    static const uint32_t rows[][4] = {
        {1, 1, 0, 2}, {2, 1, 0, 12}, {2, 2, 0, 36}, {3, 0, 0, 32}, {2, 0, 1, 4},
        {2, 1, 1, 8}, {2, 2, 1, 16}, {3, 0, 1, 12}, {3, 1, 1, 24}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect(fixtures_table(rows[i][0], rows[i][1], rows[i][2] != 0),
               rows[i][3]);
    /* Two orders, times two ways for the second producer, times three
     * readings. */
    expect(fixtures_table_plain(2, 1), 12);
}

TEST(counters_have_one_graph_per_interleaving)
{
    expect(fixtures_counter(2), 6);
    expect(fixtures_counter(3), 90);
    expect(fixtures_counter(4), 2520);
}

TEST(litmus_tests_have_as_many_graphs_as_counted)
{
    expect(fixtures_litmus(FIXTURES_SB_RELAXED), 4);
    expect(fixtures_litmus(FIXTURES_SB_SEQ_CST), 3);
    expect(fixtures_litmus(FIXTURES_MP_RELEASE_ACQUIRE), 3);
    expect(fixtures_litmus(FIXTURES_MP_RELAXED), 4);
    expect(fixtures_litmus(FIXTURES_CORR), 6);
    expect(fixtures_litmus(FIXTURES_LB_RELAXED), 3);
    expect(fixtures_litmus(FIXTURES_2_2W), 4);
    expect(fixtures_litmus(FIXTURES_SB_FENCES), 3);
    expect(fixtures_litmus(FIXTURES_FENCE_RELAY), 6);
    /* Two readers have 4 x 4 outcomes. If all accesses are seq_cst, they must
     * agree on the order of the writes. */
    expect(fixtures_litmus(FIXTURES_IRIW_ACQUIRE), 16);
    expect(fixtures_litmus(FIXTURES_IRIW_SEQ_CST), 15);
}

static void
expect_few_runs(const struct sim_kernel *kernel, uint64_t graphs)
{
    const struct sim_exhaust_result r =
        exhaust(kernel, &(struct sim_exhaust_options){.recheck_of_100 = 1});

    assert_int_equal(r.graphs, graphs);
    assert_in_range(r.runs, graphs, 2 * graphs);
}

TEST(two_runs_a_graph_are_enough_whatever_the_number_of_schedules)
{
    expect_few_runs(fixtures_independent(8), 1);
    expect_few_runs(fixtures_store_buffer(8, false), 256);
    expect_few_runs(fixtures_store_buffer(6, true), 63);
    expect_few_runs(fixtures_counter(4), 2520);
    expect_few_runs(fixtures_seqlock(2, 2), 1521);
    expect_few_runs(fixtures_ticket(5), 120);
    expect_few_runs(fixtures_ticket(6), 720);
}

/* ---- Outcomes ---- */

struct outcomes {
    uint32_t seen[64];
    uint32_t count;
};

static void
note_outcome(void *context, const struct sim_run *run)
{
    struct outcomes *o = context;

    (void)run;
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->seen[i] == fixtures_litmus_outcome)
            return;
    }
    assert_true(o->count < 64);
    o->seen[o->count++] = fixtures_litmus_outcome;
}

static struct outcomes
outcomes_of(enum fixtures_litmus which)
{
    struct outcomes o = {.count = 0};

    exhaust(fixtures_litmus(which),
            &(struct sim_exhaust_options){.after_run = note_outcome,
                                          .after_run_context = &o});
    return o;
}

static bool
has(const struct outcomes *o, uint32_t r0, uint32_t r1, uint32_t r2,
    uint32_t r3)
{
    const uint32_t registers = r0 | r1 << 4 | r2 << 8 | r3 << 12;

    for (uint32_t i = 0; i < o->count; i++) {
        if ((o->seen[i] & 0xffff) == registers)
            return true;
    }
    return false;
}

TEST(each_litmus_test_shows_the_outcomes_that_report_models_apart)
{
    struct outcomes o;

    o = outcomes_of(FIXTURES_SB_RELAXED);
    assert_true(has(&o, 0, 0, 0, 0)); /* both stores still buffered */
    o = outcomes_of(FIXTURES_SB_SEQ_CST);
    assert_false(has(&o, 0, 0, 0, 0));
    o = outcomes_of(FIXTURES_SB_FENCES);
    assert_false(has(&o, 0, 0, 0, 0));
    o = outcomes_of(FIXTURES_SB_MIXED);
    assert_false(has(&o, 0, 0, 0, 0));
    assert_true(has(&o, 1, 0, 0, 0) && has(&o, 0, 1, 0, 0));
    o = outcomes_of(FIXTURES_MP_RELAXED);
    assert_true(has(&o, 1, 0, 0, 0)); /* flag without data */
    o = outcomes_of(FIXTURES_MP_RELEASE_ACQUIRE);
    assert_false(has(&o, 1, 0, 0, 0));
    o = outcomes_of(FIXTURES_CORR);
    assert_false(has(&o, 2, 1, 0, 0)); /* of one location */
    o = outcomes_of(FIXTURES_IRIW_ACQUIRE);
    assert_true(has(&o, 1, 0, 1, 0)); /* readers disagree on the order */
    o = outcomes_of(FIXTURES_IRIW_SEQ_CST);
    assert_false(has(&o, 1, 0, 1, 0));
    o = outcomes_of(FIXTURES_FENCE_RELAY);
    assert_int_equal(o.count, 6);
    assert_true(has(&o, 1, 1, 0, 0)); /* if the state has no fences */
    o = outcomes_of(FIXTURES_FENCE_LATE);
    assert_true(has(&o, 1, 0, 0, 0)); /* the writer's fence comes last */
}

/* ---- Pruning ---- */

TEST(pruning_loses_no_outcome)
{
    for (uint32_t i = 0; i < FIXTURES_LITMUS_COUNT; i++) {
        struct outcomes with = outcomes_of((enum fixtures_litmus)i);
        struct outcomes without = {.count = 0};
        struct sim_exhaust_options options = {.no_pruning = true,
                                              .after_run = note_outcome,
                                              .after_run_context = &without};

        exhaust(fixtures_litmus((enum fixtures_litmus)i), &options);
        assert_int_equal(with.count, without.count);
    }
}

TEST(cut_prefixes_run_on_end_in_known_graphs)
{
    struct sim_exhaust_result r;
    const struct sim_exhaust_options options = {.recheck_of_100 = 100,
                                                .by_schedules = true};

    r = exhaust(fixtures_seqlock(2, 2), &options);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, 1521);
    assert_true(r.rechecked > 1000);
    r = exhaust(fixtures_litmus(FIXTURES_FENCE_RELAY), &options);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_true(r.rechecked > 5);
}

TEST(a_preemption_bound_large_enough_is_no_bound)
{
    struct sim_exhaust_options options = {.run = {.bounded = true}};
    uint64_t before = 0;

    for (uint32_t bound = 0; bound <= 12; bound++) {
        struct sim_exhaust_result r;

        options.run.preemptions_max = bound;
        r = exhaust(fixtures_seqlock(2, 1), &options);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_true(r.graphs >= before);
        before = r.graphs;
    }
    assert_int_equal(before, 39);
}

/* ---- Loops that wait ---- */

/* Check that the search by graphs and the one by schedules find the same
 * graphs. Their number is not checked: some differ only in how often a loop
 * that waits goes round, and how many do depends on the compiler. */
static uint64_t
expect_as_by_schedules(const struct sim_kernel *kernel)
{
    const struct sim_exhaust_result reduced =
        exhaust(kernel, &(struct sim_exhaust_options){0});
    const struct sim_exhaust_result schedules =
        exhaust(kernel, &(struct sim_exhaust_options){.by_schedules = true});

    assert_int_equal(schedules.verdict, SIM_VERDICT_PASS);
    assert_int_equal(reduced.graphs, schedules.graphs);
    assert_int_equal(reduced.graphs_sum, schedules.graphs_sum);
    assert_int_equal(reduced.states, 0); /* this was a search by graphs */
    return reduced.graphs;
}

/* A round of a wait loop that changes nothing ends the run; one that reads
 * other values may go on. */
TEST(rounds_of_two_reads_lose_no_graph)
{
    assert_true(expect_as_by_schedules(fixtures_held_word(1)) > 1);
    assert_true(expect_as_by_schedules(fixtures_held_word(2)) > 1);
    /* Two graphs: the waiter sees one flag or the other. */
    assert_int_equal(expect_as_by_schedules(fixtures_either_flag()), 2);
}

/* ---- Mutants ---- */

/*
 * Weaken each atomic access of the kernel by every possible step. Every mutant
 * must be found.
 *
 * returns: how many mutants there are
 */
static uint32_t
kill_mutants(const struct sim_kernel *kernel, enum sim_failure_kind want)
{
    struct sim_site sites[64];
    const uint32_t sites_count = sim_explore_sites(kernel, 200, sites, 64);
    uint32_t mutants = 0;

    for (uint32_t i = 0; i < sites_count; i++) {
        for (uint32_t step = 0; step < 2; step++) {
            struct sim_site weaker = sites[i];
            struct sim_exhaust_result r;

            if (!sim_explore_weaken(&weaker, step))
                break;
            mutants++;
            sim_explore_mutate(&weaker);
            r = exhaust(kernel, &(struct sim_exhaust_options){0});
            sim_explore_mutate(NULL);
            if (r.verdict != SIM_VERDICT_FAIL)
                fail_msg("%s: order %d instead of %d survives at %s",
                         kernel->name, weaker.order, sites[i].order,
                         sim_site_text(weaker.site));
            assert_int_equal(r.first_failure.failure.kind, want);
            assert_true(r.runs < 10000); /* takes well below a second */
        }
    }
    return mutants;
}

TEST(every_weaker_order_in_the_seqlock_is_found)
{
    assert_int_equal(kill_mutants(fixtures_seqlock(1, 1), SIM_FAIL_CHECK), 4);
}

TEST(every_weaker_order_in_the_table_is_found)
{
    /* Two acquire loads, and a compare-exchange that is release, or acquire if
     * it fails. */
    assert_int_equal(kill_mutants(fixtures_table(2, 1, true), SIM_FAIL_CHECK),
                     4);
    assert_int_equal(kill_mutants(fixtures_table_plain(1, 1), SIM_FAIL_RACE),
                     2);
}

/* ---- Lists that no search makes ---- */

/* Such a list is refused, or shows what is there: it never makes a deadlock of
 * a thread that need not wait. returns: how many were judged */
static uint32_t
judge_lists(const struct fixtures_case *c)
{
    const struct sim_run_options options = {
        .reduced = true, .drop_waiters = true, .silent_ms = 100};
    uint64_t state = 9;
    uint32_t judged = 0;

    for (uint32_t i = 0; i < 60; i++) {
        struct sim_choice list[256];
        struct sim_choices choices;
        struct sim_run run;
        uint32_t values[6] = {0};

        for (uint32_t at = 0; at < i % 7; at++) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            values[at] =
                (state >> 40) % 2 == 0 ? (uint32_t)(state >> 33) % 13 : 0;
        }
        sim_choices_init(&choices, list, 256);
        sim_choices_replay(&choices, values, i % 7);
        sim_explore_run(&c->kernel, &options, &choices, &run);
        if (choices.misaligned || run.end == SIM_END_PRUNED)
            continue;
        judged++;
        if (run.end == SIM_END_FAILED && run.failure.kind != c->want)
            fail_msg("%s (%s), list %u: %s", c->kernel.about, c->kernel.name, i,
                     run.failure.text);
    }
    return judged;
}

TEST(a_list_that_no_search_makes_is_refused_not_judged)
{
    uint32_t judged = 0;

    for (uint32_t i = 0; i < fixtures_cases_count; i++) {
        const enum sim_failure_kind want = fixtures_cases[i].want;

        /* Without those that take long, or whose crash cmocka would catch. */
        if (want != SIM_FAIL_LIMIT && want != SIM_FAIL_CRASH)
            judged += judge_lists(&fixtures_cases[i]);
    }
    for (uint32_t i = 0; i < fixtures_waiting_count; i++)
        judged += judge_lists(&fixtures_waiting[i]);
    assert_true(judged > 1000);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
