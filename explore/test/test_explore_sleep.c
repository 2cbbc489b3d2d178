/*
 * test_explore_sleep.c -- random programs that sleep, wake, lock, try to lock
 * and call barriers, and some with a signal handler. Explored graph by graph
 * and schedule by schedule, each has the same graphs and the same verdict.
 *
 *      test_explore_sleep            800 programs
 *      test_explore_sleep 20000      20000 programs
 *
 * build: as=test_explore_sleep not=asan
 * build: as=explore_sleep_all args=20000 when=long
 */
#include "explore/engine/explore.h"
#include "common/rng.h"
#include "explore/engine/tsan.h"

#include <stdlib.h>
#include <string.h>

#include "common/test/unit_test.h"

enum { THREADS_MAX = 3, STEPS_MAX = 4, PLACES = 2 };

enum op {
    LOAD,
    STORE,
    CAS,
    WAIT,
    WAKE_ONE,
    WAKE_ALL,
    LOCKED,
    TRY,
    BARRIER,
    BARRIER_LOCKED,
    OPS_COUNT
};

struct step {
    enum op op;
    uint32_t location;
    uint32_t value;
    bool relaxed;
};

static struct {
    uint32_t threads;
    uint32_t length;
    struct step steps[THREADS_MAX][STEPS_MAX];
} program;

static uint32_t programs = 800;
static uint32_t memory[PLACES];
static char lock;

static void
setup(void *context)
{
    (void)context;
    memset(memory, 0, sizeof memory);
}

static void
do_step(const struct step *s)
{
    uint32_t *location = &memory[s->location];
    uint32_t expected = s->value;

    switch (s->op) {
    case LOAD:
        __tsan_atomic32_load(location,
                             s->relaxed ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE);
        break;
    case STORE:
        __tsan_atomic32_store(location, s->value,
                              s->relaxed ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
        break;
    case CAS:
        __tsan_atomic32_compare_exchange_strong(location, &expected,
                                                s->value + 1, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
        break;
    case WAIT:
        sim_explore_wait(location, s->value);
        break;
    case WAKE_ONE:
        sim_explore_wake_one(location);
        break;
    case WAKE_ALL:
        sim_explore_wake(location);
        break;
    case LOCKED:
        sim_explore_lock(&lock, 0);
        __tsan_atomic32_load(location, __ATOMIC_RELAXED);
        sim_explore_unlock(&lock);
        break;
    case TRY:
        if (!sim_explore_trylock(&lock, 0))
            break;
        __tsan_atomic32_store(location, s->value, __ATOMIC_RELAXED);
        sim_explore_unlock(&lock);
        break;
    case BARRIER:
        sim_explore_barrier();
        break;
    case BARRIER_LOCKED:
        sim_explore_lock(&lock, 0);
        sim_explore_barrier();
        sim_explore_unlock(&lock);
        break;
    case OPS_COUNT:
        break;
    }
}

static void
run_thread(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < program.length; i++)
        do_step(&program.steps[thread][i]);
}

static struct sim_exhaust_result
explore(bool by_schedules)
{
    const struct sim_exhaust_options options = {.by_schedules = by_schedules,
                                                .keep_going = true};
    struct sim_kernel kernel = {.name = "random",
                                .about = "any",
                                .setup = setup,
                                .threads_count = program.threads,
                                .barriers = true};
    struct sim_exhaust_result r;

    for (uint32_t t = 0; t < program.threads; t++)
        kernel.threads[t] = (struct sim_thread){"t", run_thread, NULL};
    sim_explore_exhaust(&kernel, &options, &r);
    free(r.choices);
    return r;
}

/* Make a program: half of its steps sleep or wake. */
static void
draw_program(struct sim_rng *rng)
{
    program.threads = 2 + sim_rng_below(rng, 2);
    program.length = program.threads == 3 ? 2 + sim_rng_below(rng, 2) : 4;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct step *s = &program.steps[t][i];

            s->op = sim_rng_below(rng, 2) == 0
                        ? (enum op)(WAIT + sim_rng_below(rng, 3))
                        : (enum op)sim_rng_below(rng, OPS_COUNT);
            s->location = sim_rng_below(rng, 4) == 0;
            s->value = sim_rng_below(rng, 2);
            s->relaxed = sim_rng_below(rng, 2) == 0;
        }
    }
}

static void
fail_program(uint32_t number, const struct sim_exhaust_result *a,
             const struct sim_exhaust_result *b)
{
    static const char *const names[] = {
        "load",     "store",     "cas",       "wait",    "wake one",
        "wake all", "lock+load", "try+store", "barrier", "lock+barrier"};

    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            const struct step *s = &program.steps[t][i];

            print_message("T%u: %s%s %u, %u\n", t, names[s->op],
                          s->relaxed ? " relaxed" : "", s->location, s->value);
        }
    }
    fail_msg("program %u: %llu graphs, %s, graph by graph; by schedules %llu, "
             "%s",
             number, (unsigned long long)a->graphs,
             a->failures > 0 ? "a failure" : "none",
             (unsigned long long)b->graphs, b->failures > 0 ? "one" : "none");
}

TEST(sleeping_programs_have_the_same_graphs_either_way)
{
    struct sim_rng rng = {.state = 5};
    uint64_t runs = 0;
    uint64_t graphs = 0;
    uint32_t failing = 0;

    for (uint32_t i = 0; i < programs; i++) {
        struct sim_exhaust_result by_graphs;
        struct sim_exhaust_result by_schedules;

        draw_program(&rng);
        by_graphs = explore(false);
        by_schedules = explore(true);
        if (by_graphs.graphs != by_schedules.graphs ||
            by_graphs.graphs_sum != by_schedules.graphs_sum ||
            (by_graphs.failures > 0) != (by_schedules.failures > 0))
            fail_program(i, &by_graphs, &by_schedules);
        assert_int_equal(by_graphs.states, 0); /* this was a search by graphs */
        runs += by_graphs.runs;
        graphs += by_graphs.graphs + by_graphs.failures;
        failing += by_graphs.failures > 0;
    }
    assert_in_range(failing, programs / 10, programs - programs / 10);
    assert_true(runs < 2 * graphs);
}

/* ---- Signals ---- */

static char locks[2];

static void
store_flag(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    __tsan_atomic32_store(&memory[0], 1, __ATOMIC_RELAXED);
}

static void
load_answer(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    __tsan_atomic32_load(&memory[1], __ATOMIC_RELAXED);
}

static void
answer_flag(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    __tsan_atomic32_store(&memory[1],
                          __tsan_atomic32_load(&memory[0], __ATOMIC_RELAXED),
                          __ATOMIC_RELAXED);
}

static void
call_barrier(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_barrier();
}

/* returns: how many there are */
static uint64_t
expect_same_graphs(const struct sim_kernel *kernel)
{
    struct sim_exhaust_options options = {.keep_going = false};
    struct sim_exhaust_result by_graphs;
    struct sim_exhaust_result by_schedules;

    sim_explore_exhaust(kernel, &options, &by_graphs);
    options.by_schedules = true;
    sim_explore_exhaust(kernel, &options, &by_schedules);
    assert_int_equal(by_graphs.states, 0);
    assert_int_equal(by_graphs.graphs, by_schedules.graphs);
    assert_true(by_graphs.graphs_sum == by_schedules.graphs_sum);
    return by_graphs.graphs;
}

/* The handler runs right before the load, so the load may see the answer to
 * what the handler did. */
TEST(a_thread_may_see_the_answer_to_what_its_signal_handler_did)
{
    const struct sim_kernel kernel = {
        .name = "signal",
        .about = "any",
        .setup = setup,
        .threads = {{"answer", answer_flag, NULL},
                    {"load", load_answer, store_flag}},
        .threads_count = 2,
    };

    expect_same_graphs(&kernel);
}

/* The handler runs right before a barrier, and another thread's handler in
 * between. */
TEST(what_a_signal_handler_does_has_its_turn_among_barriers)
{
    const struct sim_kernel kernel = {
        .name = "signal",
        .about = "any",
        .setup = setup,
        .threads = {{"one", call_barrier, store_flag},
                    {"other", call_barrier, NULL}},
        .threads_count = 2,
        .barriers = true,
    };

    expect_same_graphs(&kernel);
}

static void
take_a_lock(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_lock(&locks[0], 0);
    sim_explore_unlock(&locks[0]);
}

static void
take_another(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_lock(&locks[1], 0);
    sim_explore_unlock(&locks[1]);
}

/* The handler runs before its thread has the lock: if that is taken meanwhile,
 * the thread still goes on when it is given back. */
TEST(a_signal_handler_may_take_a_lock_before_its_thread_takes_another)
{
    const struct sim_kernel kernel = {
        .name = "signal",
        .about = "any",
        .setup = setup,
        .threads = {{"one", take_a_lock, take_another},
                    {"other", take_a_lock, NULL}},
        .threads_count = 2,
    };

    const struct sim_sample_options options = {.runs = 200, .seed = 1};
    struct sim_exhaust_result r;

    /* Either takes it first; the handler runs at one of two points, or not. */
    assert_int_equal(expect_same_graphs(&kernel), 6);
    sim_explore_sample(&kernel, &options, &r);
    assert_int_equal(r.runs, 200);
    assert_int_equal(r.failures, 0);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    return tests_run(NULL, NULL);
}
