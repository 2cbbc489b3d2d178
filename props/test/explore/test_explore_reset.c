/*
 * test_explore_reset.c -- a run leaves nothing behind for the next one, and
 * there are as many runs as theory says.
 *
 * The tests call the __tsan_* entry points themselves.
 */
#include "engine.h"
#include "tsan.h"

#include <malloc.h>
#include <string.h>

#include "blocked_model.h"
#include "repeated.h"
#include "sched_model.h"
#include "unit_test.h"
#include "waits.h"

static uint32_t x;
static uint32_t y;
static uint32_t flag;
static uint32_t a;
static uint32_t b;
static uint32_t c;
static uint32_t seen; /* a bit for each outcome */
static uint32_t outcomes;

static void
reset(void *context)
{
    (void)context;
    x = y = flag = a = b = c = 0;
}

#define BODY(name) static void name(void *context, uint32_t thread)
#define UNUSED     (void)context, (void)thread

static void
note(void *context)
{
    (void)context;
    seen |= 1U << (a * 4 + b * 2 + c);
    outcomes++;
}

static struct sim_exhaust_result
exhaust(const struct sim_kernel *kernel,
        const struct sim_exhaust_options *options)
{
    struct sim_exhaust_result r;

    seen = outcomes = 0;
    sim_explore_exhaust(kernel, options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    return r;
}

/* ---- Locations ---- */

BODY(store_and_raise)
{
    UNUSED;
    __tsan_atomic32_store(&x, 1, __ATOMIC_RELAXED);
    __tsan_atomic32_store(&flag, 1, __ATOMIC_RELEASE);
}

/* The plain write begins a new history of x. */
BODY(look_twice_and_reuse)
{
    UNUSED;
    a = __tsan_atomic32_load(&x, __ATOMIC_RELAXED);
    b = __tsan_atomic32_load(&x, __ATOMIC_RELAXED);
    c = __tsan_atomic32_load(&flag, __ATOMIC_ACQUIRE);
    if (c == 1) {
        __tsan_write4(&x);
        x = 5;
    }
}

/* The values read from a, b and the flag are 000, 001, 010, 011, 110 or 111,
 * each in one run. */
TEST(an_old_value_is_that_before_this_run)
{
    const struct sim_kernel kernel = {
        .name = "reuse",
        .about = "x is memory again",
        .setup = reset,
        .finish = note,
        .threads = {{"store", store_and_raise, NULL},
                    {"look", look_twice_and_reuse, NULL}},
        .threads_count = 2,
    };

    for (uint32_t by_schedules = 0; by_schedules < 2; by_schedules++) {
        const struct sim_exhaust_options options = {.by_schedules =
                                                        by_schedules != 0};
        const struct sim_exhaust_result r = exhaust(&kernel, &options);

        assert_int_equal(r.graphs, 6);
        assert_int_equal(seen, 0xcf);
    }
}

/* ---- Threads that a fork ends ---- */

static void
look_in_child(void)
{
    a = __tsan_atomic32_load(&x, __ATOMIC_RELAXED);
    b = __tsan_atomic32_load(&x, __ATOMIC_RELAXED);
}

BODY(fork_and_look)
{
    UNUSED;
    sim_explore_fork(look_in_child);
}

BODY(store_thrice)
{
    UNUSED;
    for (uint32_t i = 1; i <= 3; i++)
        __tsan_atomic32_store(&x, i & 1, __ATOMIC_RELAXED);
}

static void
expect_schedules(void *context, const struct sim_run *run)
{
    assert_true(context == NULL && run != NULL && !sim_engine.reduced);
}

/* Whichever thread forks, no other one runs in the child; and no search graph
 * by graph knows what to leave out then. */
TEST(nobody_but_the_child_goes_on_after_a_fork)
{
    for (uint32_t forks = 0; forks < 3; forks++) {
        struct sim_kernel kernel = {
            .name = "fork",
            .about = "x stands still",
            .setup = reset,
            .finish = note,
            .threads = {{"store", store_thrice, NULL},
                        {"store", store_thrice, NULL},
                        {"store", store_thrice, NULL}},
            .threads_count = 3,
            .barriers = forks < 2,
        };

        kernel.threads[forks] =
            (struct sim_thread){"fork", fork_and_look, NULL};
        exhaust(&kernel,
                &(struct sim_exhaust_options){.after_run = expect_schedules});
        assert_int_equal(seen, 1U << 0 | 1U << 6); /* 0 and 0, or 1 and 1 */
    }
}

/* ---- Kernels one after the other ---- */

BODY(add_three_times)
{
    UNUSED;
    for (uint32_t i = 0; i < 3; i++)
        (void)__tsan_atomic32_fetch_add(&x, 1, __ATOMIC_SEQ_CST);
}

BODY(add_locked)
{
    UNUSED;
    sim_explore_lock(&y, 0);
    (void)__tsan_atomic32_fetch_add(&x, 1, __ATOMIC_RELAXED);
    sim_explore_unlock(&y);
}

BODY(mark_twice)
{
    UNUSED;
    (void)sim_explore_mark();
    (void)sim_explore_mark();
}

BODY(swap_flags)
{
    uint32_t *mine = thread == 0 ? &x : &y;
    uint32_t *other = thread == 0 ? &y : &x;

    (void)context;
    __tsan_atomic32_store(mine, 1, __ATOMIC_RELAXED);
    (void)__tsan_atomic32_load(&flag, __ATOMIC_ACQUIRE); /* tells nothing */
    *(thread == 0 ? &a : &b) = __tsan_atomic32_load(other, __ATOMIC_RELAXED);
}

BODY(sleep_once)
{
    UNUSED;
    sim_explore_wait(&flag, 0);
}

BODY(raise_and_wake)
{
    UNUSED;
    __tsan_atomic32_store(&flag, 1, __ATOMIC_RELAXED);
    sim_explore_wake(&flag);
}

struct counted {
    const char *name;
    void (*body)(void *context, uint32_t thread);
    void (*other)(void *context, uint32_t thread);
    uint32_t graphs;
};

static const struct counted counted[] = {
    {"orders of 3 and 3 additions", add_three_times, add_three_times, 20},
    {"orders of two holders", add_locked, add_locked, 2},
    {"orders of 2 and 2 marks", mark_twice, mark_twice, 6},
    {"store buffering", swap_flags, swap_flags, 4},
    {"awake, or asleep before either", sleep_once, raise_and_wake, 3},
};

enum { COUNTED = sizeof counted / sizeof *counted };

static struct sim_kernel
kernel_of(const struct counted *k)
{
    return (struct sim_kernel){
        .name = k->name,
        .about = k->name,
        .setup = reset,
        .threads = {{"one", k->body, NULL}, {"other", k->other, NULL}},
        .threads_count = 2,
    };
}

static uint64_t
sum_of(const struct counted *k)
{
    const struct sim_kernel kernel = kernel_of(k);
    const struct sim_exhaust_result r =
        exhaust(&kernel, &(struct sim_exhaust_options){0});

    if (k != &counted[COUNTED - 1] && r.graphs != k->graphs)
        fail_msg("%s: %u graphs, not %u", k->name, (unsigned)r.graphs,
                 (unsigned)k->graphs);
    return r.graphs_sum;
}

TEST(a_kernel_has_its_graphs_whatever_was_explored_before)
{
    uint64_t sums[COUNTED];

    for (uint32_t i = 0; i < COUNTED; i++)
        sums[i] = sum_of(&counted[i]);
    for (uint32_t i = 0; i < COUNTED; i++) {
        for (uint32_t j = 0; j < COUNTED; j++) {
            (void)sum_of(&counted[i]);
            assert_int_equal(sum_of(&counted[j]), sums[j]);
        }
    }
}

/* Guided runs learn the lengths of threads. They must not keep them for the
 * next search. */
TEST(a_seed_gives_the_same_runs_whatever_was_sampled_before)
{
    static const struct counted lopsided[] = {
        {"long and short", add_three_times, raise_and_wake, 1},
        {"short and long", raise_and_wake, add_three_times, 1},
    };

    for (enum sim_strategy s = SIM_STRATEGY_RANDOM; s < SIM_STRATEGY_COUNT;
         s++) {
        const struct sim_sample_options options = {
            .run = {.strategy = s}, .runs = 5, .seed = 7};
        uint64_t sums[2];

        for (uint32_t i = 0; i < 2; i++) {
            const struct sim_kernel before = kernel_of(&lopsided[i]);
            const struct sim_kernel kernel = kernel_of(&counted[0]);
            struct sim_exhaust_result r;

            sim_explore_sample(&before, &options, &r);
            sim_explore_sample(&kernel, &options, &r);
            assert_int_equal(r.runs, 5);
            sums[i] = r.graphs_sum;
        }
        assert_int_equal(sums[0], sums[1]);
    }
}

/* ---- Runs ---- */

/* No thread ever blocks, so each run is one graph. */
TEST(a_run_a_graph_is_enough_where_nothing_waits)
{
    for (uint32_t i = 0; i < COUNTED; i++) {
        const struct sim_kernel kernel = kernel_of(&counted[i]);
        struct sim_exhaust_result r;

        if (counted[i].body == add_locked || counted[i].body == sleep_once)
            continue;
        r = exhaust(&kernel, &(struct sim_exhaust_options){0});
        assert_int_equal(r.runs, r.graphs);
    }
}

BODY(two_steps)
{
    uint32_t *mine = thread == 0 ? &x : &y;

    (void)context;
    __tsan_atomic32_store(mine, 1, __ATOMIC_RELAXED);
    __tsan_atomic32_store(mine, 2, __ATOMIC_RELAXED);
}

/*
 * Two threads of two steps have these schedules: AABB, BBAA without a
 * preemption; ABBA, BAAB with one; ABAB, BABA with two.
 */
TEST(a_bound_lets_through_the_schedules_with_so_many_preemptions)
{
    const struct counted steps = {"two steps each", two_steps, two_steps, 1};
    const struct sim_kernel kernel = kernel_of(&steps);

    for (uint32_t bound = 0; bound <= 3; bound++) {
        const struct sim_exhaust_options options = {
            .run = {.bounded = true, .preemptions_max = bound},
            .by_schedules = true,
            .no_pruning = true,
        };

        assert_int_equal(exhaust(&kernel, &options).runs,
                         bound < 2 ? 2 + 2 * bound : 6);
    }
}

/* ---- Stacks ---- */

enum { STATES = 20 };

static uint64_t states[STATES];
static uint32_t states_count;

/* Its frame has words that nobody writes. */
static __attribute__((noinline)) void
look(void)
{
    uint64_t unwritten[32];
    uint64_t *volatile used = unwritten;

    (void)used;
    (void)__tsan_atomic32_load(&x, __ATOMIC_RELAXED);
    states[states_count++ % STATES] = sim_wait_state();
}

/* ... and these are other ones in each run, where that frame was. */
static __attribute__((noinline)) void
leave(void)
{
    volatile uint64_t written[64];

    for (int i = 0; i < 64; i++)
        written[i] = states_count * 0x9e3779b97f4a7c15U;
    (void)written[0];
}

BODY(look_and_leave)
{
    UNUSED;
    look();
    leave();
}

TEST(a_state_does_not_depend_on_an_earlier_run)
{
    const struct sim_kernel kernel = {
        .name = "unwritten",
        .about = "a frame that nobody writes",
        .setup = reset,
        .threads = {{.name = "looker", .body = look_and_leave}},
        .threads_count = 1};
    struct sim_exhaust_result r;

    states_count = 0;
    for (int i = 0; i < STATES / 2; i++)
        sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
    /* Each run twice, but the first of all, after which the search begins
     * again. */
    assert_in_range(states_count, STATES, STATES + 1);
    /* In the first run it was not known that a state is wanted. */
    for (uint32_t i = 2; i < STATES; i++)
        assert_true(states[i] == states[1]);
}

/* ---- A state deeper than any before, met late in a search ---- */

static uint64_t deep; /* the state, in this run */
static uint64_t deep_states[20];
static uint32_t searches;

static __attribute__((noinline)) void
look_deep(void)
{
    uint64_t unwritten[512];
    uint64_t *volatile used = unwritten;

    (void)used;
    (void)__tsan_atomic32_load(&y, __ATOMIC_RELAXED);
    deep = sim_wait_state();
}

static __attribute__((noinline)) void
leave_deep(void)
{
    volatile uint64_t written[1024];

    for (int i = 0; i < 1024; i++)
        written[i] = (searches + 1) * 0x9e3779b97f4a7c15U;
    (void)written[0];
}

BODY(leave_and_then_look)
{
    UNUSED;
    if (__tsan_atomic32_load(&x, __ATOMIC_RELAXED) != 0)
        leave_deep();
    else
        look_deep();
}

BODY(raise_x)
{
    UNUSED;
    __tsan_atomic32_store(&x, 1, __ATOMIC_RELAXED);
}

static void
keep_state(void *context, const struct sim_run *run)
{
    (void)context;
    (void)run;
    if (deep != 0)
        deep_states[searches] = deep;
    deep = 0;
}

/* The newest value is read first. So there are words in the stack when the
 * state is first wanted, and other ones in each search. */
TEST(a_state_met_late_does_not_depend_on_earlier_runs)
{
    const struct sim_kernel kernel = {
        .name = "late",
        .about = "a deep frame in a later run",
        .setup = reset,
        .threads = {{"raise", raise_x, NULL},
                    {"look", leave_and_then_look, NULL}},
        .threads_count = 2};
    const struct sim_exhaust_options options = {.after_run = keep_state};
    struct sim_kernel kernels[20];

    for (searches = 0; searches < 20; searches++) {
        sim_engine.cleared_bytes = 0; /* as at the process's beginning */
        kernels[searches] = kernel;
        assert_int_equal(exhaust(&kernels[searches], &options).graphs, 2);
        assert_true(deep_states[searches] != 0);
        assert_true(deep_states[searches] == deep_states[0]);
    }
}

TEST(the_first_run_and_one_in_a_hundred_are_made_twice)
{
    repeated_count();
}

TEST(the_first_access_that_differs_is_named)
{
    repeated_differs();
}

TEST(a_waiting_thread_can_continue_as_the_rules_say)
{
    blocked_model_try();
}

TEST(a_strategy_draws_what_its_rules_say)
{
    sched_model_try();
}

TEST(a_wait_goes_on_pauses_and_races_as_it_may)
{
    waits_try();
}

int
main(void)
{
    mallopt(M_PERTURB, 0xcc); /* new memory is not 0 */
    return tests_run(NULL, NULL);
}
