/*
 * run_locks.c -- the locks of a port, against a model: random calls of one
 * thread, while another one has a lock.
 */
#include "engine.h"
#include "run_calls.h"
#include "run_races.h"
#include "trace.h"

#include "unit_test.h"

enum { LOCKS = 5, CALLS_MAX = 9, RUNS = 400, NOBODY = SIM_THREADS_MAX };

static char locks[LOCKS + 1];
static uint32_t word;

static struct model {
    uint32_t holder;
    uint32_t rank;
    uintptr_t site;
} model[LOCKS];

static uint32_t used[LOCKS]; /* in the order of their first use */
static uint32_t used_count;
static uint32_t begun; /* the first thread uses so many */
static struct sim_failure want;
static struct trace_event made[TRACE_MAX];
static struct trace_event wanted[2 * LOCKS + CALLS_MAX + 2];
static uint32_t wanted_count;

static void
event(enum sim_op op, uint32_t lock, bool ok, uintptr_t site)
{
    wanted[wanted_count++] = (struct trace_event){
        .op = op, .ok = ok, .address = (uintptr_t)&locks[lock], .site = site};
}

static void
refused(enum sim_failure_kind kind, uintptr_t site, uintptr_t other_site)
{
    if (want.kind == SIM_FAIL_NONE)
        want = (struct sim_failure){
            .kind = kind, .site = site, .other_site = other_site};
}

static void
now_held(uint32_t lock, uint32_t thread, uintptr_t site)
{
    model[lock].holder = thread;
    model[lock].site = site;
    event(SIM_OP_LOCK, lock, true, site);
}

static void
use(uint32_t lock)
{
    for (uint32_t i = 0; i < used_count; i++) {
        if (used[i] == lock)
            return;
    }
    used[used_count++] = lock;
}

static void
take(uint32_t lock, uint32_t rank, uint32_t thread, uintptr_t site)
{
    use(lock);
    model[lock].rank = rank;
    for (uint32_t i = 0; i < used_count; i++) {
        const struct model *m = &model[used[i]];

        if (m->holder != thread)
            continue;
        if (used[i] == lock)
            refused(SIM_FAIL_LOCK_MISUSE, site, m->site);
        else if (rank != 0 && m->rank >= rank)
            refused(SIM_FAIL_LOCK_RANK, site, m->site);
    }
    if (want.kind == SIM_FAIL_NONE)
        now_held(lock, thread, site);
    sim_lock_take(&locks[lock], rank, site);
}

static void
try(uint32_t lock, uint32_t rank, uint32_t thread, uintptr_t site)
{
    const bool free = model[lock].holder == NOBODY;

    use(lock);
    model[lock].rank = rank;
    if (free)
        now_held(lock, thread, site);
    else
        event(SIM_OP_LOCK, lock, false, site);
    assert_int_equal(sim_lock_try(&locks[lock], rank, site), free);
}

static void
release(uint32_t lock, uint32_t thread, uintptr_t site)
{
    use(lock);
    if (model[lock].holder != thread)
        refused(SIM_FAIL_LOCK_MISUSE, site, 0);
    else
        event(SIM_OP_UNLOCK, lock, true, site);
    model[lock].holder = NOBODY;
    sim_lock_release(&locks[lock], site);
}

static void
reset(uint32_t lock, uintptr_t site)
{
    use(lock);
    model[lock].holder = NOBODY;
    event(SIM_OP_UNLOCK, lock, true, site);
    sim_lock_reset(&locks[lock], site);
}

static void
call_any(struct sim_rng *rng, uintptr_t site)
{
    const uint32_t lock = sim_rng_below(rng, LOCKS);
    const uint32_t rank = sim_rng_below(rng, 4);

    switch (sim_rng_below(rng, 8)) {
    case 0:
        try(lock, rank, 1, site);
        break;
    case 1:
        reset(lock, site);
        break;
    case 2:
        release(lock, 1, site);
        break;
    case 3:
        if (model[lock].holder == 1)
            release(lock, 1, site);
        break;
    default:
        if (model[lock].holder == NOBODY || sim_rng_below(rng, 8) == 0)
            if (model[lock].holder != 0) /* or it waits for ever */
                take(lock, rank, 1, site);
        break;
    }
}

/* The first thread uses some locks, and keeps one. */
static void
call(void *context, uint32_t thread)
{
    for (uint32_t i = 0; thread == 0 && i < begun; i++) {
        take(i, 0, 0, 10 + i);
        if (i != 2)
            release(i, 0, 20 + i);
    }
    if (thread == 1)
        sim_explore_mark(); /* what comes before is not ordered */
    for (uintptr_t i = 0; thread == 1 && i < CALLS_MAX; i++)
        call_any(context, 100 + i);
}

static void
check_events(void)
{
    assert_int_equal(sim_engine.trace_count, wanted_count);
    for (uint32_t i = 0; i < wanted_count; i++) {
        assert_int_equal(made[i].op, wanted[i].op);
        assert_int_equal(made[i].ok, wanted[i].ok);
        assert_int_equal(made[i].site, wanted[i].site);
        assert_int_equal(made[i].address, wanted[i].address);
    }
}

TEST(locks_are_taken_and_given_back_as_a_model_says)
{
    struct sim_kernel kernel = kernel_of("locks", call, 2);
    struct sim_rng rng = {.state = 3};
    uint32_t kinds[SIM_FAIL_KIND_COUNT] = {0};

    kernel.context = &rng;
    sim_engine.trace = made;
    for (uint32_t i = 0; i < RUNS; i++) {
        struct sim_run run;

        want = (struct sim_failure){.kind = SIM_FAIL_NONE};
        wanted_count = used_count = 0;
        begun = sim_rng_below(&rng, LOCKS + 1);
        for (uint32_t k = 0; k < LOCKS; k++)
            model[k] = (struct model){.holder = NOBODY};
        run = run_kernel(&kernel);
        assert_int_equal(run.failure.kind, want.kind);
        if (want.kind != SIM_FAIL_NONE) {
            assert_int_equal(run.failure.site, want.site);
            assert_int_equal(run.failure.other_site, want.other_site);
        }
        check_events();
        kinds[want.kind]++;
    }
    sim_engine.trace = NULL;
    assert_true(kinds[SIM_FAIL_NONE] > 20 && kinds[SIM_FAIL_LOCK_RANK] > 20 &&
                kinds[SIM_FAIL_LOCK_MISUSE] > 20);
}

static void
call_from_one_place(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    CALL(sim_explore_lock, &locks[0], 1);
    CALL(sim_explore_trylock, &locks[1], 0);
    CALL(sim_explore_unlock, &locks[1]);
    CALL(sim_explore_wait, &word, 1);
    CALL(sim_explore_wake, &word);
    CALL(sim_explore_wake_one, &word);
}

TEST(each_call_of_a_lock_is_an_event_at_its_place)
{
    static const enum sim_op ops[] = {SIM_OP_LOCK, SIM_OP_LOCK, SIM_OP_UNLOCK,
                                      SIM_OP_LOAD, SIM_OP_WAIT, SIM_OP_WAKE,
                                      SIM_OP_WAKE};
    const struct sim_kernel kernel = kernel_of("calls", call_from_one_place, 1);

    sim_engine.trace = made;
    assert_int_equal(run_kernel(&kernel).end, SIM_END_COMPLETE);
    sim_engine.trace = NULL;
    assert_int_equal(sim_engine.trace_count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(made[i].op, ops[i]);
        assert_int_equal(made[i].site, HERE);
        if (ops[i] != SIM_OP_LOAD)
            assert_int_equal(made[i].ok, ops[i] != SIM_OP_WAIT);
    }
}

TEST(a_lock_outside_of_a_run_is_no_lock_of_the_run)
{
    const uint32_t count = sim_engine.locks_count;

    sim_lock_reset(&locks[LOCKS], 1);
    assert_int_equal(sim_engine.locks_count, count);
}

/* ---- How many graphs there are ---- */

static void
lock_twice(void *context, uint32_t thread)
{
    (void)context;
    if (thread > 0) {
        if (sim_lock_try(&locks[0], 0, 1))
            sim_lock_release(&locks[0], 2);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        sim_lock_take(&locks[0], 0, 3);
        sim_lock_release(&locks[0], 4);
    }
}

static void
check_graphs(const struct sim_kernel *kernel, uint64_t graphs)
{
    for (uint32_t how = 0; how < 2; how++) {
        struct sim_exhaust_result r;

        sim_explore_exhaust(
            kernel, &(struct sim_exhaust_options){.by_schedules = how == 1},
            &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, graphs);
        if (how == 0)
            assert_int_equal(r.runs, graphs);
    }
}

/* A try comes before, between or after the other thread's four calls. */
TEST(each_time_of_a_try_is_a_graph)
{
    const struct sim_kernel kernel = kernel_of("tries", lock_twice, 2);

    check_graphs(&kernel, 5);
}

int
run_locks_tests(void)
{
    return tests_run(NULL, NULL);
}
