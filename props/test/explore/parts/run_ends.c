/*
 * run_ends.c -- what is asked in a run and who answers, who goes on, and who
 * does not.
 */
#include "engine.h"
#include "run_calls.h"
#include "run_races.h"
#include "tsan.h"

#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED, LIST_MAX = 512 };

static uint32_t places[SIM_THREADS_MAX];
static char locks[2];
static struct sim_choice list[LIST_MAX];

static void
clear(void *context)
{
    (void)context;
    memset(places, 0, sizeof places);
}

static void
store_four_times(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < 4; i++)
        __tsan_atomic32_store(&places[thread], i, RLX);
}

/* ---- Answers ---- */

static struct sim_run
run_drawn(const struct sim_kernel *kernel,
          const struct sim_run_options *options, struct sim_choices *choices,
          uint64_t seed)
{
    struct sim_run run;

    sim_choices_init(choices, list, LIST_MAX);
    sim_choices_random(choices, seed);
    sim_explore_run(kernel, options, choices, &run);
    assert_int_equal(run.end, SIM_END_COMPLETE);
    return run;
}

/* A thread that is alone has no choice, so no number is drawn. */
TEST(a_strategy_is_asked_only_where_there_is_a_choice)
{
    const struct sim_kernel kernel = kernel_of("one", store_four_times, 1);
    const struct sim_run_options options = {.strategy = SIM_STRATEGY_URW};
    struct sim_choices before;
    struct sim_choices after;

    (void)state;
    sim_choices_init(&before, list, LIST_MAX);
    sim_choices_random(&before, 5);
    run_drawn(&kernel, &options, &after, 5);
    assert_true(after.rng.state == before.rng.state);
    assert_int_equal(after.count, 0);
}

/* The answers of a random run are those that the same questions get from the
 * same seed without a run. */
TEST(random_answers_are_drawn_by_the_one_call)
{
    const struct sim_kernel kernel = kernel_of("three", store_four_times, 3);

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        static struct sim_choice again[LIST_MAX];
        struct sim_choices run;
        struct sim_choices alone;

        run_drawn(&kernel, &(struct sim_run_options){0}, &run, seed);
        sim_choices_init(&alone, again, LIST_MAX);
        sim_choices_random(&alone, seed);
        assert_true(run.count > 6);
        for (uint32_t i = 0; i < run.count; i++)
            assert_int_equal(sim_choose(&alone, list[i].bound,
                                        (enum sim_kind)list[i].kind,
                                        list[i].label),
                             list[i].value);
    }
}

static void
note_switches(void *context, const struct sim_run *run)
{
    uint32_t *most = context;

    *most = run->switches > *most ? run->switches : *most;
}

/* By priorities a thread runs to its end, unless it falls at one of the steps
 * that are drawn. */
TEST(a_thread_is_interrupted_less_often_than_the_depth)
{
    const struct sim_kernel kernel = kernel_of("three", store_four_times, 3);

    (void)state;
    for (uint32_t depth = 1; depth < 4; depth++) {
        uint32_t most = 0;
        const struct sim_sample_options options = {
            .run = {.strategy = SIM_STRATEGY_PCT, .pct_depth = depth},
            .runs = 60,
            .after_run = note_switches,
            .after_run_context = &most};
        struct sim_exhaust_result r;

        sim_explore_sample(&kernel, &options, &r);
        assert_int_equal(most, depth - 1);
    }
}

static uint32_t happened;

static void
note_signal(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    happened++;
}

static void
wait_and_exchange(void *context, uint32_t thread)
{
    uint32_t expected = 0;

    (void)context;
    (void)thread;
    happened += !__tsan_atomic32_compare_exchange_weak(&places[0], &expected, 1,
                                                       RLX, RLX);
}

/* Answer 0 is the dull one, and there is one question before each event. */
TEST(nothing_strikes_where_all_answers_are_0)
{
    struct sim_kernel kernel = kernel_of("dull", wait_and_exchange, 1);
    const struct sim_run_options options = {.spurious_max = 1};

    (void)state;
    kernel.setup = clear;
    kernel.threads[0].signal = note_signal;
    for (uint32_t strikes = 0; strikes < 3; strikes++) {
        const uint32_t values[] = {strikes == 1, strikes == 2};
        struct sim_choices choices;
        struct sim_run run;

        happened = 0;
        sim_choices_init(&choices, list, LIST_MAX);
        sim_choices_replay(&choices, values, 2);
        sim_explore_run(&kernel, &options, &choices, &run);
        assert_int_equal(run.end, SIM_END_COMPLETE);
        assert_int_equal(choices.count, 2);
        assert_int_equal(list[0].bound, 2);
        assert_int_equal(list[1].bound, 2);
        assert_int_equal(happened, strikes > 0);
    }
}

/* ---- Beyond a cut ---- */

static uint32_t drawn; /* in this run */
static uint32_t drawn_beyond, switched_beyond;

static void
store_and_draw(void *context, uint32_t thread)
{
    store_four_times(context, thread);
    drawn += sim_explore_choose(3, SIM_DATA);
    __tsan_atomic32_store(&places[thread], 9, RLX);
}

static void
forget_drawn(void *context)
{
    clear(context);
    drawn = 0;
}

static void
note_beyond(void *context)
{
    uint32_t in_list = 0;
    uint32_t switches = 0;

    (void)context;
    for (uint32_t i = 0; i < sim_engine.choices->count; i++) {
        const struct sim_choice *c = &sim_engine.choices->list[i];

        in_list += c->kind == SIM_DATA ? c->value : 0;
        switches += c->kind == SIM_SCHED && c->value != 0;
    }
    assert_true(drawn >= in_list);
    drawn_beyond += drawn > in_list;
    switched_beyond += sim_engine.run->switches > switches;
}

TEST(a_run_goes_on_at_random_beyond_a_cut)
{
    struct sim_kernel kernel = kernel_of("draws", store_and_draw, 2);
    const struct sim_exhaust_options options = {.by_schedules = true,
                                                .recheck_of_100 = 100};
    struct sim_exhaust_result r;

    (void)state;
    kernel.setup = forget_drawn;
    kernel.finish = note_beyond;
    drawn_beyond = switched_beyond = 0;
    sim_explore_exhaust(&kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_true(drawn_beyond > 0);
    assert_true(switched_beyond > 0);
}

/* ---- Under a bound ---- */

static uint32_t order, orders; /* bits: who was when; which orders there are */

static void
note_order(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < 2; i++) {
        __tsan_atomic32_fetch_add(&places[0], 1, RLX);
        order = order * 2 + thread;
    }
}

static void
forget_order(void *context)
{
    clear(context);
    order = 0;
}

static void
keep_order(void *context)
{
    (void)context;
    orders |= 1U << order;
}

TEST(nobody_is_interrupted_where_no_preemption_is_left)
{
    struct sim_kernel kernel = kernel_of("bound", note_order, 2);
    const struct sim_exhaust_options options = {.run = {.bounded = true}};
    struct sim_exhaust_result r;

    (void)state;
    kernel.setup = forget_order;
    kernel.finish = keep_order;
    orders = 0;
    sim_explore_exhaust(&kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(orders, 1U << 3 | 1U << 12); /* 0011 and 1100 */
}

/* ---- Who goes on ---- */

/* Thread 3 stores; of the others, one half waits for each place, and ends. */
static void
wait_for_store(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; thread == 3 && i < 12; i++)
        __tsan_atomic32_store(&places[i / 6], 1 + i, RLX);
    while (thread != 3 && __tsan_atomic32_load(&places[thread % 2], RLX) == 0)
        sim_explore_spin_wait();
}

/* Stores come after a waiter has ended, too. */
TEST(a_waiter_goes_on_once)
{
    struct sim_kernel kernel =
        kernel_of("waiters", wait_for_store, SIM_THREADS_MAX);
    struct sim_choices choices;

    (void)state;
    kernel.setup = clear;
    for (uint64_t seed = 0; seed < 40; seed++)
        run_drawn(&kernel, &(struct sim_run_options){0}, &choices, seed);
}

static void
lock_crosswise(void *context, uint32_t thread)
{
    (void)context;
    __tsan_atomic32_store(&places[0], 1, RLX);
    if (thread < SIM_THREADS_MAX - 2)
        return;
    sim_explore_lock(&locks[thread % 2], 0);
    CALL(sim_explore_lock, &locks[1 - thread % 2], 0);
    sim_explore_unlock(&locks[0]);
    sim_explore_unlock(&locks[1]);
}

/* The last two of eight threads wait for each other. */
TEST(who_waits_for_a_lock_is_named_with_its_holder)
{
    const struct sim_kernel kernel =
        kernel_of("crosswise", lock_crosswise, SIM_THREADS_MAX);
    uint32_t failures = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct sim_choices choices;
        struct sim_run run;

        sim_choices_init(&choices, list, LIST_MAX);
        sim_choices_random(&choices, seed);
        sim_explore_run(&kernel, &(struct sim_run_options){0}, &choices, &run);
        if (run.failure.kind == SIM_FAIL_NONE)
            continue;
        failures++;
        assert_int_equal(run.failure.kind, SIM_FAIL_DEADLOCK);
        assert_string_equal(run.failure.text,
                            "every unfinished thread waits for a lock");
        assert_int_equal(run.failure.thread, SIM_THREADS_MAX - 2);
        assert_int_equal(run.failure.site, HERE);
        assert_true(run.failure.other_site != 0); /* where it was taken */
        assert_true(run.failure.other_site != HERE);
    }
    assert_in_range(failures, 1, 39);
}

/* ---- Threads that create and join ---- */

static uint32_t ended;

static void
end_last(void *argument)
{
    (void)argument;
    __tsan_atomic32_store(&places[2], 1, RLX);
    ended++;
}

static void
create_and_join(void *argument)
{
    const uint32_t i = sim_thread_create(end_last, argument, 0, 1);

    sim_thread_join(i, 2);
    assert_int_equal(ended, 1);
    ended++;
}

static void
begin_chain(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    ended = 0;
    sim_thread_join(sim_thread_create(create_and_join, NULL, 0, 1), 2);
    assert_int_equal(ended, 2);
}

/* Not only the first thread may join. */
TEST(who_joins_goes_on_after_the_end)
{
    const struct sim_kernel kernel = kernel_of("chain", begin_chain, 1);
    struct sim_exhaust_result r;
    struct sim_choices choices;

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++)
        run_drawn(&kernel, &(struct sim_run_options){0}, &choices, seed);
    for (uint32_t how = 0; how < 2; how++) {
        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.by_schedules = how == 1},
            &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, 1);
    }
}

static void
wait_for_place(void *place)
{
    while (__tsan_atomic32_load(place, RLX) == 0)
        sim_explore_spin_wait();
}

static void
join_first(void *place)
{
    __tsan_atomic32_store(place, 1, RLX);
    sim_thread_join(1, 2);
}

/* In every other run the threads that are created wait for ever, the second one
 * in a loop or for an end. */
static void
create_by_turns(void *context, uint32_t thread)
{
    const uint32_t turn = *(uint32_t *)context;

    (void)thread;
    if (turn % 2 == 0) {
        sim_thread_create(wait_for_place, &places[1], 0, 1);
        sim_thread_create(turn % 4 == 0 ? wait_for_place : join_first,
                          &places[2], 0, 1);
        wait_for_place(&places[3]);
    }
    sim_thread_create(wait_for_place, &places[0], 0, 1);
    for (uint32_t i = 0; i < 12; i++)
        __tsan_atomic32_store(&places[3 - i % 4], 1, RLX);
    ended = turn;
}

TEST(a_thread_that_is_not_created_again_does_nothing)
{
    uint32_t turn = 0;
    struct sim_kernel kernel = kernel_of("turns", create_by_turns, 1);

    (void)state;
    kernel.context = &turn;
    kernel.setup = clear;
    for (; turn < 40; turn++) {
        struct sim_choices choices;
        struct sim_run run;

        sim_choices_init(&choices, list, LIST_MAX);
        sim_choices_random(&choices, turn);
        sim_explore_run(&kernel, &(struct sim_run_options){0}, &choices, &run);
        assert_int_equal(run.failure.kind,
                         turn % 2 == 0 ? SIM_FAIL_LIVELOCK : SIM_FAIL_NONE);
        assert_int_equal(run.failure.thread, 0);
        assert_true(turn % 2 == 0 || ended == turn);
    }
}

/* ---- Choices in a loop ---- */

static void
wait_or_draw(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    while (__tsan_atomic32_load(&places[0], RLX) == 0 &&
           sim_explore_choose(2, SIM_DATA) == 0)
        sim_explore_spin_wait();
}

/* Nobody stores, but the choice may end the loop in any round. */
TEST(a_loop_that_draws_does_not_wait)
{
    struct sim_kernel kernel = kernel_of("draws", wait_or_draw, 1);

    (void)state;
    kernel.setup = clear;
    for (uint32_t how = 0; how < 2; how++) {
        struct sim_exhaust_result r;

        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.by_schedules = how == 1},
            &r);
        assert_int_equal(r.failures, 0);
        assert_true(r.graphs >= 2);
        assert_true(r.bounded > 0);
    }
}

int
run_ends_tests(void)
{
    return tests_run(NULL, NULL);
}
