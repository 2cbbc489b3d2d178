/*
 * run_sites.c -- starts and failures of threads, marks, scripts, sites and
 * their orders, and what is left of the searches before.
 */
#include "engine.h"
#include "run_calls.h"
#include "run_races.h"
#include "trace.h"
#include "tsan.h"

#include <stdlib.h>

#include "unit_test.h"

static uint32_t place;
static uint32_t other;
static uint32_t went_on;

/* ---- Starts and ends ---- */

static void
fail_first(void *context, uint32_t thread)
{
    const uint32_t *fails = context;

    sim_explore_check(thread != *fails, "before its first event");
    went_on++;
}

/* What comes before a first event runs in the order of the threads. */
TEST(no_thread_starts_after_one_has_failed)
{
    struct sim_kernel kernel = kernel_of("starts", fail_first, SIM_THREADS_MAX);
    uint32_t fails;

    (void)state;
    kernel.context = &fails;
    for (fails = 0; fails <= SIM_THREADS_MAX; fails++) {
        struct sim_run run;

        went_on = 0;
        run = run_kernel(&kernel);
        assert_int_equal(went_on, fails);
        if (fails == SIM_THREADS_MAX) {
            assert_int_equal(run.end, SIM_END_COMPLETE);
            continue;
        }
        assert_int_equal(run.end, SIM_END_FAILED);
        assert_int_equal(run.failure.thread, fails);
    }
}

TEST(a_failure_outside_of_a_run_is_none)
{
    struct sim_kernel kernel = kernel_of("starts", fail_first, 2);
    uint32_t nobody = 9;
    static struct sim_choice list[16];
    struct sim_choices choices;
    struct sim_run run;

    (void)state;
    kernel.context = &nobody;
    sim_choices_init(&choices, list, 16);
    sim_choices_replay(&choices, NULL, 0);
    sim_explore_run(&kernel, &(struct sim_run_options){0}, &choices, &run);
    sim_explore_fail("outside");
    assert_int_equal(run.failure.kind, SIM_FAIL_NONE);
}

static void
fail_twice(void *context)
{
    (void)context;
    sim_explore_fail("first");
    sim_explore_fail("second");
}

TEST(the_first_failure_of_a_check_is_the_one)
{
    struct sim_kernel kernel = kernel_of("fails", fail_first, 1);
    uint32_t nobody = 9;
    struct sim_run run;

    (void)state;
    kernel.context = &nobody;
    kernel.finish = fail_twice;
    run = run_kernel(&kernel);
    assert_int_equal(run.end, SIM_END_FAILED);
    assert_string_equal(run.failure.text, "first");
}

static void
mark_thrice(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < 3; i++)
        sim_explore_mark();
}

/* Six marks of two threads: 20 orders; nine of three: 1680. */
TEST(each_order_of_marks_is_a_graph)
{
    (void)state;
    for (uint32_t count = 1; count <= 3; count++) {
        const struct sim_kernel kernel = kernel_of("marks", mark_thrice, count);

        for (uint32_t how = 0; how < 2; how++) {
            const struct sim_exhaust_options options = {.by_schedules =
                                                            how == 1};
            struct sim_exhaust_result r;

            sim_explore_exhaust(&kernel, &options, &r);
            assert_int_equal(r.verdict, SIM_VERDICT_PASS);
            assert_int_equal(r.graphs, count == 1 ? 1 : count == 2 ? 20 : 1680);
        }
    }
}

/* ---- Threads that wait for ever ---- */

static uint32_t waiter;
static bool spins;

static void
wait_for_nobody(void *context, uint32_t thread)
{
    (void)context;
    CALL(__tsan_atomic32_load, &place, __ATOMIC_RELAXED);
    while (thread == waiter && spins &&
           __tsan_atomic32_load(&place, __ATOMIC_RELAXED) == 0)
        CALL(sim_explore_spin_wait);
    if (thread == waiter && !spins)
        CALL(sim_explore_wait, &place, 0);
}

static void
check_waiter(const struct sim_failure *f)
{
    assert_int_equal(f->kind, spins ? SIM_FAIL_LIVELOCK : SIM_FAIL_DEADLOCK);
    assert_string_equal(f->text,
                        spins ? "a thread waits in a loop for what nobody will "
                                "do"
                              : "a thread sleeps and nobody will wake it");
    assert_int_equal(f->thread, waiter);
    assert_int_equal(f->site, HERE);
    assert_int_equal(f->other_site, 0);
}

TEST(who_waits_for_nobody_is_named)
{
    const struct sim_kernel all =
        kernel_of("waits", wait_for_nobody, SIM_THREADS_MAX);
    const struct sim_kernel three = kernel_of("three", wait_for_nobody, 3);

    (void)state;
    place = 0;
    for (uint32_t i = 0; i < 2 * SIM_THREADS_MAX; i++) {
        struct sim_run run;

        waiter = i / 2;
        spins = i % 2 == 1;
        run = run_kernel(&all);
        assert_int_equal(run.end, SIM_END_FAILED);
        check_waiter(&run.failure);
        for (uint32_t how = 0; waiter < 3 && how < 2; how++) {
            struct sim_exhaust_result r;

            sim_explore_exhaust(
                &three, &(struct sim_exhaust_options){.by_schedules = how == 1},
                &r);
            assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
            check_waiter(&r.first_failure.failure);
            free(r.choices);
        }
    }
    waiter = SIM_THREADS_MAX;
    assert_int_equal(run_kernel(&all).end, SIM_END_COMPLETE);
}

/* ---- Runs of chosen events (script.c) ---- */

enum { EVENTS = 20, STORES = 6 };

static uint32_t
some_event(struct sim_rng *rng, uint32_t below)
{
    const uint32_t picked = sim_rng_below(rng, below + 1);

    return picked == below ? TRACE_MAX : picked;
}

static void
check_choice(struct sim_rng *rng, uint32_t wanted, bool is_place)
{
    struct store stores[STORES];
    const struct location l = {.stores = stores, .stores_count = STORES};
    const uint32_t count = 1 + sim_rng_below(rng, STORES + is_place);
    const uint32_t from = sim_rng_below(rng, STORES + is_place);
    uint32_t found[STORES + 1];
    uint32_t want;

    for (uint32_t i = 0; i < STORES; i++)
        stores[i].trace = some_event(rng, EVENTS);
    for (uint32_t i = 0; i < count; i++)
        found[i] = (from + i) % (STORES + is_place);
    want = found[0];
    for (uint32_t i = count; i-- > 0;) {
        if ((found[i] < STORES ? stores[found[i]].trace : TRACE_MAX) == wanted)
            want = found[i];
    }
    assert_int_equal(sim_script_choose(&l, found, count, is_place), want);
}

/* Events have new numbers: those that do not run are left out. */
TEST(a_script_runs_the_chosen_events_in_their_order)
{
    static struct trace_event events[EVENTS];
    struct sim_rng rng = {.state = 5};

    (void)state;
    sim_engine.ready = (1U << SIM_THREADS_MAX) - 1;
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t last = sim_rng_below(&rng, SIM_THREADS_MAX);
        uint32_t number[TRACE_MAX + 1];
        bool runs[EVENTS];

        number[TRACE_MAX] = TRACE_MAX;
        for (uint32_t k = 0, next = 0; k < EVENTS; k++) {
            events[k] = (struct trace_event){
                .thread = sim_rng_below(&rng, SIM_THREADS_MAX),
                .from = some_event(&rng, k),
                .before = some_event(&rng, k)};
            runs[k] = sim_rng_below(&rng, 3) > 0;
            number[k] = runs[k] ? next++ : TRACE_MAX;
        }
        sim_script_begin(events, EVENTS, runs, last);
        assert_true(sim_script_runs);
        sim_engine.trace_count = 0;
        for (uint32_t k = 0; k < EVENTS; k++) {
            if (!runs[k])
                continue;
            assert_int_equal(sim_script_pick(), events[k].thread);
            check_choice(&rng, number[events[k].from], false);
            check_choice(&rng, number[events[k].before], true);
            sim_engine.trace_count++;
        }
        for (uint32_t k = 0; k < 3; k++, sim_engine.trace_count++) {
            assert_int_equal(sim_script_pick(), last);
            check_choice(&rng, TRACE_MAX, k == 1);
        }
        sim_script_end();
        assert_false(sim_script_runs);
    }
}

/* ---- Sites and their orders ---- */

static int release;
static int acquire;

static void
publish(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        __tsan_write4(&other);
        __tsan_atomic32_store(&place, 1, release);
        return;
    }
    if (CALL(__tsan_atomic32_load, &place, acquire) == 1)
        __tsan_read4(&other);
}

static void
reset_places(void *context)
{
    (void)context;
    place = other = 0;
}

static enum sim_failure_kind
result_of(const struct sim_kernel *kernel)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &(struct sim_exhaust_options){0}, &r);
    free(r.choices);
    return r.first_failure.failure.kind;
}

/* The bits above are hints for lock elision. */
TEST(an_order_counts_as_compiled_or_as_weakened)
{
    const int hint = 1 << 16;
    struct sim_kernel kernel = kernel_of("published", publish, 2);
    struct sim_site sites[8];
    uint32_t found = 9;
    uintptr_t first = 0;

    (void)state;
    kernel.setup = reset_places;
    for (int i = 0; i < 2; i++) {
        release = __ATOMIC_RELEASE | i * hint;
        acquire = __ATOMIC_RELAXED | i * hint;
        assert_int_equal(result_of(&kernel), SIM_FAIL_RACE);
        acquire = __ATOMIC_CONSUME | i * hint;
        assert_int_equal(result_of(&kernel), SIM_FAIL_NONE);
        acquire = __ATOMIC_ACQUIRE | i * hint;
        assert_int_equal(result_of(&kernel), SIM_FAIL_NONE);
    }
    acquire = __ATOMIC_SEQ_CST;
    for (uint32_t i = 0; i < 2; i++) { /* the second finds what is there */
        assert_int_equal(sim_explore_sites(&kernel, 20, sites, 8), 2);
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(sites[k].order_failure, __ATOMIC_RELAXED);
            if (sites[k].site == HERE)
                found = k;
        }
        assert_true(found < 2);
        if (i == 0)
            first = sites[0].site;
        assert_int_equal(sites[0].site, first);
        assert_int_equal(sites[found].op, SIM_OP_LOAD);
        assert_int_equal(sites[found].order, __ATOMIC_SEQ_CST);
    }
    sites[found].order = __ATOMIC_ACQUIRE;
    sim_explore_mutate(&sites[found]);
    assert_int_equal(result_of(&kernel), SIM_FAIL_NONE);
    sites[found].order = __ATOMIC_RELAXED;
    sim_explore_mutate(&sites[found]);
    assert_int_equal(result_of(&kernel), SIM_FAIL_RACE);
    sim_explore_mutate(NULL);
    assert_int_equal(result_of(&kernel), SIM_FAIL_NONE);
}

static void
publish_by_exchange(void *context, uint32_t thread)
{
    uint32_t expected = thread;
    bool done;

    (void)context;
    if (thread == 0)
        __tsan_write4(&other);
    done = CALL(__tsan_atomic32_compare_exchange_strong, &place, &expected,
                thread + 1, release, acquire) != 0;
    if (thread == 1 && (done || expected == 2))
        __tsan_read4(&other);
}

TEST(both_orders_of_a_compare_exchange_may_have_hints)
{
    const int hint = 1 << 16;
    struct sim_kernel kernel = kernel_of("swapped", publish_by_exchange, 2);
    struct sim_site sites[2];

    (void)state;
    kernel.setup = reset_places;
    release = __ATOMIC_ACQ_REL | hint;
    acquire = __ATOMIC_ACQUIRE | hint;
    assert_int_equal(result_of(&kernel), SIM_FAIL_NONE);
    release = __ATOMIC_RELAXED | hint;
    assert_int_equal(result_of(&kernel), SIM_FAIL_RACE);
    assert_int_equal(sim_explore_sites(&kernel, 1, sites, 2), 1);
    assert_int_equal(sites[0].order, __ATOMIC_RELAXED);
    assert_int_equal(sites[0].order_failure, __ATOMIC_ACQUIRE);
}

static void
fence_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    CALL(__tsan_atomic_thread_fence, __ATOMIC_ACQ_REL);
}

TEST(a_fence_has_a_site)
{
    const struct sim_kernel kernel = kernel_of("fence", fence_once, 1);
    struct sim_site sites[2];

    (void)state;
    assert_int_equal(sim_explore_sites(&kernel, 1, sites, 2), 1);
    assert_int_equal(sites[0].site, HERE);
    assert_int_equal(sites[0].op, SIM_OP_FENCE);
    assert_int_equal(sites[0].order, __ATOMIC_ACQ_REL);
}

/* ---- Searches one after another ---- */

static uint64_t log_hash;

static void
load_and_log(void *context, uint32_t thread)
{
    const uint32_t *times = context;

    for (uint32_t i = 0; i < *times * (thread + 1); i++) {
        CALL(__tsan_atomic32_load, &place, __ATOMIC_RELAXED);
        log_hash = log_hash * 31 + thread + 1;
    }
}

static uint64_t
log_of_sample(enum sim_strategy strategy, uint32_t times)
{
    struct sim_kernel kernel = kernel_of("logs", load_and_log, 3);
    const struct sim_sample_options options = {.runs = 12,
                                               .run.strategy = strategy};
    struct sim_exhaust_result r;

    kernel.context = &times;
    log_hash = 0;
    sim_explore_sample(&kernel, &options, &r);
    return log_hash;
}

TEST(random_runs_do_not_depend_on_searches_before)
{
    uint64_t logs[SIM_STRATEGY_COUNT];

    (void)state;
    for (uint32_t i = 0; i < 2 * SIM_STRATEGY_COUNT; i++) {
        const enum sim_strategy strategy = i % SIM_STRATEGY_COUNT;
        uint64_t log;

        log_of_sample(strategy, i < SIM_STRATEGY_COUNT ? 1 : 20);
        log = log_of_sample(strategy, 4);
        if (i < SIM_STRATEGY_COUNT)
            logs[i] = log;
        assert_int_equal(log, logs[strategy]);
    }
}

/*
 * Three threads make 3, 6 and 9 loads, so there are 4 * 7 * 10 states, and
 * 3 * 7 * 10 + 4 * 6 * 10 + 4 * 7 * 9 steps between them. Each run but the
 * first ends with a step to a state that is known; two of these are the last
 * step of all. What runs on beyond a cut is drawn, the same each time.
 */
TEST(a_run_is_cut_at_each_state_that_is_known)
{
    static const uint32_t share[] = {0, 50, 100, 99};
    static const uint32_t least[] = {0, 150, 421, 400};
    static const uint32_t most[] = {0, 271, 421, 420};
    uint32_t times = 3;
    struct sim_kernel kernel = kernel_of("logs", load_and_log, 3);
    struct sim_exhaust_options options = {.by_schedules = true};
    uint64_t logs[4];

    (void)state;
    kernel.context = &times;
    for (uint32_t i = 0; i < 8; i++) {
        struct sim_exhaust_result r;

        options.recheck_of_100 = share[i / 2];
        log_hash = 0;
        sim_explore_exhaust(&kernel, &options, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.runs, 210 + 240 + 252 - 280 + 2);
        assert_int_equal(r.graphs, 1);
        assert_in_range(r.rechecked, least[i / 2], most[i / 2]);
        if (i % 2 == 0)
            logs[i / 2] = log_hash;
        assert_int_equal(log_hash, logs[i / 2]);
    }
}

int
run_sites_tests(void)
{
    return tests_run(NULL, NULL);
}
