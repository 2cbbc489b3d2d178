/*
 * test_explore_model.c -- the explorer against a model, on random programs.
 *
 * The explorer runs a small program under every ordering. The model (rc11.h)
 * enumerates the program's execution graphs and keeps those that the axioms of
 * repaired C11 allow. The explorer must find exactly their outcomes, in shards
 * and in steps, too, and also if loads are repeated until they read a certain
 * value.
 *
 *      test_explore_model            600 programs of each class
 *      test_explore_model 5000       5000 of each
 *
 * build: as=test_explore_model not=asan cflags=-O2
 * build: as=explore_model_all args=2500 when=long
 */
#include "explore/engine/engine.h"
#include "explore/test/explored_model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/test/unit_test.h"

static uint32_t programs = 600;

static struct sim_exhaust_result
explore(const struct sim_exhaust_options *options)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(make_kernel(), options, &r);
    free(r.choices);
    return r;
}

/* ---- Loops that wait ---- */

/* A run may fail only by a loop that waits for ever, if there can be one. */
static void
check_failures(uint32_t number, const struct sim_exhaust_result *r, bool may)
{
    all_are_allowed(number);
    if (r->failures > 0 &&
        (!may || r->first_failure.failure.kind != SIM_FAIL_LIVELOCK)) {
        print_program();
        fail_msg("program %u: %s", number, r->first_failure.failure.text);
    }
    free(r->choices);
}

static void
check_search(uint32_t number, struct sim_exhaust_options options, bool may)
{
    struct sim_exhaust_result r;

    options.keep_going = true;
    sim_explore_exhaust(make_kernel(), &options, &r);
    all_are_shown(number);
    check_failures(number, &r, may);
    if ((r.failures > 0) != may || (!counts && r.bounded > 0)) {
        print_program();
        fail_msg("program %u: %llu runs of %llu wait, %llu are bounded", number,
                 (unsigned long long)r.failures, (unsigned long long)r.runs,
                 (unsigned long long)r.bounded);
    }
}

/* A sampled run goes on where a search leaves the rest to another run. */
static bool
waits_sampled(uint32_t number, uint32_t unroll, bool may)
{
    const struct sim_sample_options options = {
        .run = {.strategy = (enum sim_strategy)(number % SIM_STRATEGY_COUNT),
                .unroll = unroll},
        .runs = 30,
        .seed = number,
        .keep_going = true};
    struct sim_exhaust_result r;

    sim_explore_sample(make_kernel(), &options, &r);
    check_failures(number, &r, may);
    return r.failures > 0;
}

/* returns: may a loop of the next program wait for ever? */
static bool
try_loops(uint32_t number, struct sim_rng *rng, uint32_t *sampled)
{
    struct sim_exhaust_options options = {.runs_max = 0};
    bool may;

    draw_program(rng, SEQ_CST);
    draw_loops(rng);
    counts &= !sim_engine.program;
    options.run.unroll = sim_rng_below(rng, 3);
    props_rc11_allowed(&program, &allowed);
    may = props_rc11_may_wait(&program);
    check_search(number, options, may);
    options.by_schedules = true;
    check_search(number, options, may);
    *sampled += waits_sampled(number, options.run.unroll, may);
    return may;
}

/* In a whole program no call marks the end of a round (round.c). This test is
 * the first: sites of marked loops are known for good, and no program has any.
 */
TEST(loops_of_a_program_wait_for_what_is_allowed_and_nothing_else)
{
    struct sim_rng rng = {.state = 7};
    uint32_t sampled = 0;

    sim_engine.program = true;
    for (uint32_t i = 0; i < programs / 4; i++)
        try_loops(i, &rng, &sampled);
    sim_engine.program = false;
}

/* The search needs two runs a graph at most, as docs/exploring.md says, though
 * not for each small program. */
static void
compare(enum class class, uint64_t seed)
{
    struct sim_rng rng = {.state = seed};
    uint64_t runs = 0;
    uint64_t graphs = 0;

    for (uint32_t i = 0; i < programs; i++) {
        struct sim_exhaust_result r;

        draw_program(&rng, class);
        r = explore(&(struct sim_exhaust_options){0});
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        props_rc11_allowed(&program, &allowed);
        all_are_shown(i);
        runs += r.runs;
        graphs += r.graphs;
    }
    assert_in_range(runs, graphs, 2 * graphs);
}

TEST(accesses_show_what_is_allowed_and_nothing_else)
{
    compare(ACCESSES, 1);
}

TEST(fences_show_what_is_allowed_and_nothing_else)
{
    compare(FENCES, 2);
}

TEST(seq_cst_shows_what_is_allowed_and_nothing_else)
{
    compare(SEQ_CST, 3);
}

/* What is pruned under a bound on preemptions was seen with as many left. */
TEST(pruning_under_a_bound_loses_no_outcome)
{
    struct sim_rng rng = {.state = 9};

    for (uint32_t i = 0; i < 60; i++) {
        draw_program(&rng, i % 2 == 0 ? ACCESSES : SEQ_CST);
        for (uint32_t most = 0; most < 3; most++) {
            struct sim_exhaust_options options = {
                .run = {.bounded = true, .preemptions_max = most},
                .by_schedules = true,
                .no_pruning = true};

            explore(&options);
            allowed = explored;
            options.no_pruning = false;
            explore(&options);
            all_are_shown(i);
        }
    }
}

/* Thread 0 only reads, each other one only writes, to a location of its own. */
static void
give_locations(void)
{
    for (uint32_t i = 0; i < program.threads * program.length; i++) {
        const uint32_t thread = i / program.length;
        struct props_rc11_step *s = &program.steps[thread][i % program.length];

        if (s->op == PROPS_RC11_FENCE || s->order == __ATOMIC_SEQ_CST)
            s->order = __ATOMIC_SEQ_CST;
        else
            s->order = thread == 0 ? __ATOMIC_ACQUIRE : __ATOMIC_RELEASE;
        if (thread == 0 && s->op != PROPS_RC11_FENCE)
            s->op = PROPS_RC11_LOAD;
        else if (thread > 0)
            s->op = s->value != 0 ? PROPS_RC11_STORE : PROPS_RC11_FENCE;
        if (thread > 0)
            s->location = thread - 1;
        else
            s->value = 0;
    }
}

/* So no read waits for a store that is not made, that it may not read, or that
 * waits for it: no run is wasted. */
TEST(one_reader_needs_one_run_a_graph)
{
    struct sim_rng rng = {.state = 7};

    for (uint32_t i = 0; i < programs / 2; i++) {
        struct sim_exhaust_result r;

        draw_program(&rng, i % 2 == 0 ? FENCES : SEQ_CST);
        give_locations();
        r = explore(&(struct sim_exhaust_options){0});
        props_rc11_allowed(&program, &allowed);
        all_are_allowed(i);
        all_are_shown(i);
        if (r.runs != r.graphs) {
            print_program();
            fail_msg("program %u: %llu runs for %llu graphs", i,
                     (unsigned long long)r.runs, (unsigned long long)r.graphs);
        }
    }
}

/* Of the 127 seq_cst operations that a run may have, any may matter. */
TEST(seq_cst_is_as_allowed_among_many_other_operations)
{
    struct sim_rng rng = {.state = 7};

    for (uint32_t i = 0; i < 300; i++) {
        uint32_t left = 56 + sim_rng_below(&rng, 10);
        struct sim_exhaust_result r;

        draw_shape(&rng);
        for (uint32_t t = 0; t < 3; t++) {
            others[t][0] =
                t == 2 || i % 20 == 1 ? left : sim_rng_below(&rng, left + 1);
            others[t][1] = i % 20 == 1 ? 0 : sim_rng_below(&rng, 15);
            left -= others[t][0];
        }
        if (i % 20 > 1)
            memset(others, 0, sizeof others);
        r = explore(&(struct sim_exhaust_options){0});
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        props_rc11_allowed(&program, &allowed);
        all_are_shown(i);
    }
    memset(others, 0, sizeof others);
}

/* A critical section acquires what the one before released. */
TEST(locks_order_what_is_allowed_and_nothing_else)
{
    struct sim_rng rng = {.state = 8};

    locks = true;
    for (uint32_t i = 0; i < programs; i++) {
        struct sim_exhaust_result r;

        draw_program(&rng, SEQ_CST);
        for (uint32_t j = 0; j < program.threads * program.length; j++) {
            struct props_rc11_step *s =
                &program.steps[j / program.length][j % program.length];

            if (s->value == 0 || sim_rng_below(&rng, 2) == 0)
                continue;
            s->op = PROPS_RC11_EXCHANGE;
            s->location = LOCK_LOCATION;
            s->order = __ATOMIC_ACQ_REL;
        }
        r = explore(&(struct sim_exhaust_options){.by_schedules = i % 4 == 0});
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        props_rc11_allowed(&program, &allowed);
        all_are_shown(i);
    }
    locks = false;
}

/* What seq_cst accesses and fences did must be part of a state, or pruning
 * would lose outcomes. */
TEST(pruning_loses_no_outcome_of_a_random_program)
{
    struct sim_rng rng = {.state = 4};

    for (uint32_t i = 0; i < 300; i++) {
        uint32_t pruned;

        draw_program(&rng, SEQ_CST);
        if (program.threads == 3)
            program.length = 2;
        explore(&(struct sim_exhaust_options){0});
        pruned = explored.count;
        explore(&(struct sim_exhaust_options){.by_schedules = true});
        assert_int_equal(explored.count, pruned);
        explore(&(struct sim_exhaust_options){.no_pruning = true});
        if (explored.count != pruned) {
            print_program();
            fail_msg("program %u: %u outcomes of %u", i, pruned,
                     explored.count);
        }
    }
}

/* ---- Waits ---- */

static void
same_graphs(const struct sim_exhaust_result *r,
            const struct sim_exhaust_result *plain)
{
    assert_int_equal(r->graphs, plain->graphs);
    assert_int_equal(r->graphs_sum, plain->graphs_sum);
    assert_int_equal(r->failures > 0, plain->failures > 0);
}

/* Three shards have each graph once. */
static void
check_shards(const struct sim_exhaust_result *plain)
{
    struct sim_exhaust_result sum = {.graphs = 0};

    for (uint32_t i = 1; i <= 3; i++) {
        const struct sim_exhaust_result r =
            explore(&(struct sim_exhaust_options){
                .keep_going = true, .shard = i, .shards = 3});

        sum.graphs += r.graphs;
        sum.graphs_sum += r.graphs_sum;
        sum.failures += r.failures;
    }
    same_graphs(&sum, plain);
}

/* Searches of some runs each, which go on from a file. What they know of reads
 * that lead round a loop is not in it. */
static void
check_steps(const struct sim_exhaust_result *plain)
{
    char file[] = "/tmp/profsim-model-XXXXXX";
    struct sim_exhaust_options options = {.checkpoint = file};
    struct sim_exhaust_result r = {.verdict = SIM_VERDICT_UNFINISHED};

    assert_true(mkdtemp(file) != NULL);
    assert_int_equal(rmdir(file), 0);
    while (r.verdict == SIM_VERDICT_UNFINISHED) {
        options.runs_max += 1 + plain->runs / 3;
        assert_true(options.runs_max < 3 * plain->runs + 9);
        r = explore(&options);
        assert_string_equal(r.trouble, "");
    }
    same_graphs(&r, plain);
    assert_int_not_equal(access(file, F_OK), 0);
}

TEST(waits_end_as_they_may)
{
    struct sim_rng rng = {.state = 5};

    for (uint32_t i = 0; i < programs / 2; i++) {
        struct sim_exhaust_result plain;
        struct sim_exhaust_result r;

        draw_waits(&rng, ACCESSES + sim_rng_below(&rng, 3));
        plain = explore(&(struct sim_exhaust_options){.keep_going = true});
        props_rc11_allowed(&program, &allowed);
        all_are_shown(i);
        r = explore(&(struct sim_exhaust_options){.keep_going = true,
                                                  .by_schedules = true});
        same_graphs(&r, &plain);
        if (i % 4 == 0)
            check_shards(&plain);
        if (i % 16 == 1 && plain.failures == 0)
            check_steps(&plain);
    }
}

TEST(loops_wait_for_what_is_allowed_and_nothing_else)
{
    struct sim_rng rng = {.state = 6};
    uint32_t waiting = 0;
    uint32_t sampled = 0;

    for (uint32_t i = 0; i < programs; i++)
        waiting += try_loops(i, &rng, &sampled);
    assert_in_range(waiting, programs / 4, programs - programs / 10);
    assert_in_range(sampled, waiting / 2, waiting);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    return tests_run(NULL, NULL);
}
