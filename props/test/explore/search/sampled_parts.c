/* sampled_parts.c -- see sampled_parts.h. */
#include "sampled_parts.h"

#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "engine.h"
#include "lists.h"
#include "search.h"
#include "tsan.h"
#include "unit_test.h"

/* ---- Random runs in between ---- */

enum { NOTED_MAX = 1000 };

static struct states {
    struct {
        uint64_t state; /* of the generator when the run begins */
        uint32_t strategy;
        uint32_t made; /* runs before it */
    } list[NOTED_MAX];
    uint32_t count;
} found, wanted;

static struct states *noting;

static void
note_state(void *context)
{
    (void)context;
    if (sim_engine.choices->backend != SIM_RANDOM)
        return;
    assert_true(noting->count < NOTED_MAX);
    noting->list[noting->count].state = sim_engine.choices->rng.state;
    noting->list[noting->count].strategy = sim_engine.options.strategy;
    noting->list[noting->count++].made = lists_made;
}

/* A slice, a quarter of all runs until then: a twelfth by each strategy. */
static void
slice_in_model(const struct sim_kernel *kernel, uint32_t at, uint32_t before,
               uint64_t *seed)
{
    static const enum sim_strategy strategies[] = {
        SIM_STRATEGY_PCT, SIM_STRATEGY_RANDOM, SIM_STRATEGY_STALL};

    lists_made = before + at;
    for (uint32_t i = 0; i < 3; i++) {
        struct sim_exhaust_result r;

        sim_explore_sample(
            kernel,
            &(struct sim_sample_options){.run = {.strategy = strategies[i]},
                                         .runs = at / 12,
                                         .seed = *seed},
            &r);
        *seed += at / 12;
    }
}

/* The search begins again by schedules, with the same random runs. */
void
sampled_parts_sliced(void)
{
    const struct sim_exhaust_options options = {
        .portfolio = true, .seed = 77, .after_run = lists_count};
    const struct sim_kernel kernel = lists_kernel(note_state);
    struct sim_exhaust_result r;

    noting = &found;
    lists_fork = 600;
    sim_explore_exhaust(&kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, LISTS);
    assert_int_equal(r.sampled, 3 * (256 / 12 + 512 / 12));
    assert_int_equal(lists_made, 600 + LISTS);
    noting = &wanted;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint64_t seed = 77;

        slice_in_model(&kernel, 256, 600 * pass, &seed);
        slice_in_model(&kernel, 512, 600 * pass, &seed);
    }
    assert_int_equal(found.count, wanted.count);
    assert_memory_equal(found.list, wanted.list,
                        found.count * sizeof *found.list);
}

/* ---- Failures ---- */

static void
fail_at_random(void *context)
{
    (void)context;
    if (lists_made == 512 && sim_engine.choices->backend != SIM_ODOMETER)
        sim_explore_fail("at random");
}

void
sampled_parts_failed(void)
{
    struct sim_exhaust_options options = {.keep_going = true,
                                          .after_run = lists_count};
    struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_exhaust_result r;
    uint32_t blocks;

    lists_fail = 3; /* the first one is kept */
    sim_explore_exhaust(&kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    assert_int_equal(r.failures, 3);
    assert_int_equal(r.graphs, LISTS - 3);
    assert_int_equal(r.graphs_sum, lists_sum);
    assert_string_equal(r.first_failure.failure.text, "the first list");
    assert_int_equal(r.choices_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(r.choices[i].value, 0);
    assert_false(r.found_by_sampling);
    free(r.choices);
    lists_fork = 600; /* then it is found again, by schedules */
    blocks = blocks_guarded();
    sim_explore_exhaust(&kernel, &options, &r);
    assert_int_equal(r.failures, 3);
    free(r.choices);
    assert_int_equal(blocks_guarded(), blocks);
    kernel = lists_kernel(NULL);
    kernel.finish = fail_at_random;
    options.portfolio = true;
    options.keep_going = false;
    sim_explore_exhaust(&kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    assert_int_equal(r.failures, 1);
    assert_int_equal(r.runs, 512);
    assert_int_equal(r.sampled, 3 * (256 / 12) + 1);
    assert_true(r.found_by_sampling);
    assert_int_equal(r.options.strategy, SIM_STRATEGY_PCT);
    assert_string_equal(r.first_failure.failure.text, "at random");
    assert_int_equal(r.choices_count, 5);
    free(r.choices);
    assert_int_equal(blocks_guarded(), blocks);
    lists_fail = LISTS;
    assert_int_equal(sim_explore_sites(&kernel, 9, NULL, 0), 0);
    assert_int_equal(blocks_guarded(), blocks);
}

/* ---- Runs beyond a cut state ---- */

static uint32_t words[3];
static bool detour_fails;
static bool first_fails; /* those in which thread 0 was the first */
static uint32_t first;
static struct sim_search detouring;
static struct sim_exhaust_result result;

/* A word of its own, which commutes, and one of both threads. */
static void
add_twice(void *context, uint32_t thread)
{
    (void)context;
    (void)__tsan_atomic32_fetch_add(&words[thread], 1, __ATOMIC_RELAXED);
    if (__tsan_atomic32_fetch_add(&words[2], 1, __ATOMIC_RELAXED) == 0)
        first = thread;
}

static void
clear_words(void *context)
{
    (void)context;
    memset(words, 0, sizeof words);
}

static void
forget_graphs(void *context, const struct sim_run *run)
{
    (void)run;
    lists_made++;
    if (*(bool *)context)
        sim_visited_clear(&detouring.graphs);
}

static void
check_detour(void *context)
{
    (void)context;
    if (sim_engine.detour ? detour_fails : first_fails && first == 0)
        sim_explore_fail("it ends");
}

static void
search_detours(bool forgets, bool fails_there, bool fails_first)
{
    const struct sim_kernel kernel = {
        .name = "adds",
        .about = "any",
        .setup = clear_words,
        .finish = check_detour,
        .threads = {{"a", add_twice, NULL}, {"b", add_twice, NULL}},
        .threads_count = 2};
    const struct sim_exhaust_options options = {.by_schedules = true,
                                                .recheck_of_100 = 100,
                                                .keep_going = fails_first,
                                                .after_run = forget_graphs,
                                                .after_run_context = &forgets};
    enum sim_search_end end;

    lists_made = 0;
    detour_fails = fails_there;
    first_fails = fails_first;
    memset(&result, 0, sizeof result);
    detouring = (struct sim_search){
        .kernel = &kernel, .options = &options, .result = &result};
    sim_search_begin(&detouring);
    sim_search_load(&detouring, NULL, 0);
    end = sim_search_continue(&detouring);
    assert_int_equal(end, result.failures > 0 && !fails_first
                              ? SIM_SEARCH_OVER
                              : SIM_SEARCH_DONE);
    sim_search_end(&detouring);
}

/* They end in a graph that is known, or the explorer is wrong. */
void
sampled_parts_detours(void)
{
    static const char wrong[] =
        "a run beyond a cut state ended in a graph not seen before";

    search_detours(false, false, false);
    assert_int_equal(result.failures, 0);
    assert_int_equal(result.graphs, 2);
    assert_true(result.rechecked > 0);
    assert_int_equal(result.runs, lists_made + result.rechecked);
    for (uint32_t i = 0; i < 2; i++) {
        search_detours(i == 0, i != 0, false);
        assert_int_equal(result.failures, 1);
        assert_int_equal(result.rechecked, 1);
        assert_int_equal(result.first_failure.end, SIM_END_FAILED);
        assert_int_equal(result.first_failure.failure.kind, SIM_FAIL_PRUNING);
        assert_string_equal(result.first_failure.failure.text, wrong);
        free(result.choices);
    }
    search_detours(false, true, true); /* of a failure that is known */
    assert_int_equal(result.failures, 1);
    assert_true(result.rechecked > 1);
    assert_string_equal(result.first_failure.failure.text, "it ends");
    free(result.choices);
}

/* ---- Runs that end in a wait loop ---- */

static void
wait_or_store(void *context, uint32_t thread)
{
    (void)context;
    (void)__tsan_atomic32_fetch_add(&words[1 + thread], 1, __ATOMIC_RELAXED);
    if (thread == 0) {
        while (__tsan_atomic32_load(&words[0], __ATOMIC_RELAXED) < 2)
            sim_explore_spin_wait();
        return;
    }
    for (uint32_t i = 1; i < 3; i++)
        __tsan_atomic32_store(&words[0], i, __ATOMIC_RELAXED);
}

void
sampled_parts_blocked(void)
{
    struct sim_exhaust_options options = {.after_run = lists_count};
    struct sim_kernel kernel = lists_kernel(clear_words);
    struct sim_exhaust_result r;

    kernel.threads[0].body = wait_or_store;
    kernel.threads[1] = kernel.threads[0];
    kernel.threads_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        options.by_schedules = i != 0;
        options.recheck_of_100 = 100;
        sim_explore_exhaust(&kernel, &options, &r); /* learns the loop */
        memset(lists_ended, 0, sizeof lists_ended);
        sim_explore_exhaust(&kernel, &options, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.blocked, lists_ended[SIM_END_BLOCKED]);
        assert_int_equal(r.graphs, lists_ended[SIM_END_COMPLETE]);
        assert_true(r.blocked > 0);
        assert_true((r.rechecked > 0) == (i != 0));
    }
}

/* ---- Samples ---- */

void
sampled_parts_sampled(void)
{
    const struct sim_kernel kernel = lists_kernel(note_state);
    struct sim_exhaust_result r;
    uint32_t distinct = 0;
    bool seen[LISTS] = {false};

    found.count = 0;
    noting = &found;
    assert_int_equal(
        sim_explore_sample(&kernel,
                           &(struct sim_sample_options){
                               .run = {.strategy = SIM_STRATEGY_RANDOM},
                               .runs = 300,
                               .seed = 9},
                           &r),
        SIM_VERDICT_UNFINISHED);
    assert_int_equal(r.runs, 300);
    assert_int_equal(r.graphs, 300);
    assert_int_equal(found.count, 300);
    for (uint32_t i = 0; i < 300; i++) {
        static struct sim_choice list[8];
        struct sim_choices choices;
        uint32_t number = 0;

        assert_true(found.list[i].state == sim_mix64(9 + i));
        sim_choices_init(&choices, list, 8);
        sim_choices_random(&choices, 9 + i);
        for (uint32_t k = 0; k < 5; k++)
            number = 4 * number + sim_choices_draw(&choices, 4);
        distinct += !seen[number];
        seen[number] = true;
    }
    assert_int_equal(r.states, distinct);
}

static uint32_t runs_left; /* that learn something */

static void
learn_for_long(void *context)
{
    (void)context;
    lists_made++;
    if (runs_left > 0) {
        runs_left--;
        sim_engine.learned = true;
    }
}

/* A replayed list is run again, as it is given, while something is learned. */
void
sampled_parts_run(void)
{
    static const uint32_t values[] = {3, 1, 2, 0, 3};
    const struct sim_run_options options = {.unroll = 0};
    const struct sim_kernel kernel = lists_kernel(learn_for_long);
    struct sim_choice list[8];
    struct sim_choices choices;
    struct sim_run run;

    for (uint32_t learns = 0; learns < 4; learns++) {
        lists_made = 0;
        runs_left = learns;
        sim_choices_init(&choices, list, 8);
        sim_choices_replay(&choices, values, 5);
        assert_int_equal(sim_explore_run(&kernel, &options, &choices, &run),
                         SIM_END_COMPLETE);
        assert_int_equal(lists_made, 1 + learns);
        assert_int_equal(choices.count, 5);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(list[i].value, values[i]);
        assert_false(sim_engine.learned);
    }
    lists_made = 0;
    runs_left = 1;
    sim_choices_init(&choices, list, 8);
    sim_choices_odometer(&choices);
    sim_explore_run(&kernel, &options, &choices, &run);
    assert_int_equal(lists_made, 1);
    assert_true(sim_engine.learned);
    sim_engine.learned = false;
    lists_fail = LISTS;
    runs_left = 1; /* what the last run does is told */
    sim_choices_init(&choices, list, 8);
    sim_choices_replay(&choices, values, 5);
    assert_int_equal(sim_explore_run(&kernel, &options, &choices, &run),
                     SIM_END_FAILED);
}
