/* waits.c -- see waits.h. */
#include "waits.h"
#include "engine.h"
#include "futile.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE };

static uint32_t places[2];

static void
clear(void *context)
{
    (void)context;
    memset(places, 0, sizeof places);
}

/* ---- Old values ---- */

static bool stored[2];
static uint32_t old[2]; /* reads of 0 after the store */
static uint32_t most;

static void
clear_old(void *context)
{
    clear(context);
    memset(stored, 0, sizeof stored);
    memset(old, 0, sizeof old);
}

static bool
is_set(uint32_t i)
{
    const bool set = __tsan_atomic32_load(&places[i], RLX) == 1;

    old[i] += !set && stored[i];
    return set;
}

/* Thread 0 waits for both places; both are always read. */
static void
wait_for_both(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        for (;;) {
            const bool first = is_set(0);

            if (is_set(1) && first)
                return;
            sim_explore_spin_wait();
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        __tsan_atomic32_store(&places[i], 1, RLX);
        stored[i] = true;
    }
}

static void
check_old(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < 2; i++)
        most = old[i] > most ? old[i] : most;
}

static void
expect_whole(void *context, const struct sim_run *run)
{
    (void)context;
    assert_false(run->bounded);
}

void
waits_go_on(void)
{
    const struct sim_kernel kernel = {
        .name = "both",
        .threads_count = 2,
        .threads = {{"w", wait_for_both, NULL}, {"s", wait_for_both, NULL}},
        .setup = clear_old,
        .finish = check_old};

    most = 0;
    for (uint32_t i = 0; i < SIM_STRATEGY_COUNT; i++) {
        const struct sim_sample_options options = {
            .run = {.strategy = (enum sim_strategy)i},
            .runs = 200,
            .after_run = expect_whole};
        struct sim_exhaust_result r;

        sim_explore_sample(&kernel, &options, &r);
        assert_int_equal(r.runs, 200);
        assert_int_equal(r.failures, 0);
        assert_int_equal(r.bounded, 0);
    }
    /* In the first round, and in one that is explored like any code. */
    assert_in_range(most, 1, 2);
}

/* ---- Pauses ---- */

static uint32_t pauses;

static void
pause_only(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < pauses; i++)
        sim_explore_spin_wait();
}

void
waits_pause(void)
{
    const struct sim_kernel kernel = {.name = "pauses",
                                      .threads_count = 1,
                                      .threads = {{"t", pause_only, NULL}}};

    for (pauses = 49; pauses <= 51; pauses++) {
        struct sim_exhaust_result r;
        const struct sim_failure *f = &r.first_failure.failure;

        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.run = {.steps_max = 50}},
            &r);
        assert_int_equal(r.failures, pauses > 50);
        if (r.failures == 0)
            continue;
        assert_int_equal(f->kind, SIM_FAIL_LIMIT);
        assert_int_equal(f->other_site, 0);
        assert_string_equal(f->text, "a loop pauses, but reads nothing that "
                                     "another thread could change");
        free(r.choices);
    }
}

/* ---- Rounds that no call marks ---- */

static uint32_t needed;  /* the value that ends the loop */
static uint32_t between; /* loads of another place in each round */
static uint32_t before;  /* ... and before the loop */

static void
wait_unmarked(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        for (uint32_t i = 0; i < before; i++)
            (void)__tsan_atomic32_load(&places[1], RLX);
        while (__tsan_atomic32_load(&places[0], RLX) != needed) {
            for (uint32_t i = 0; i < between; i++)
                (void)__tsan_atomic32_load(&places[1], RLX);
        }
        return;
    }
    for (uint32_t i = 1; i <= needed; i++)
        __tsan_atomic32_store(&places[0], i, RLX);
}

/*
 * A thread's first access is not compared with later ones. The second begins a
 * round in vain; when it comes again, the thread waits. So it has read one
 * value that does not end the loop, or none. The states of 32 accesses are
 * kept: a round with more is not recognised.
 */
void
waits_rounds(void)
{
    const struct sim_kernel kernel = {
        .name = "unmarked",
        .threads_count = 2,
        .threads = {{"w", wait_unmarked, NULL}, {"s", wait_unmarked, NULL}},
        .setup = clear};
    static const uint32_t loads[] = {0, 1, 31, 32};

    sim_engine.program = true;
    for (uint32_t i = 0; i < 32; i++) {
        struct sim_exhaust_result r;
        uint32_t rounds; /* in vain */

        before = i < 16 ? 0 : 24;
        between = loads[i / 4 % 4];
        rounds = before == 0 || between > 0;
        needed = 1 + i / 2 % 2;
        sim_explore_exhaust(
            &kernel,
            &(struct sim_exhaust_options){.run = {.steps_max = 200},
                                          .by_schedules = i % 2 == 1},
            &r);
        assert_int_equal(r.graphs, between == 32 ? 0
                                   : rounds == 0 ? 1
                                                 : 1 + needed);
        assert_int_equal(r.first_failure.failure.kind,
                         between < 32 ? SIM_FAIL_NONE : SIM_FAIL_LIMIT);
        assert_int_equal(r.bounded, 0);
        free(r.choices);
    }
    sim_engine.program = false;
}

static uint32_t way;
static uint32_t next; /* value, of no register and no stack */

static __attribute__((noinline)) void
change_next(void)
{
    if (way == 0)
        __tsan_atomic32_store(&places[0], ++next, RLX);
    else
        (void)__tsan_atomic32_fetch_add(&places[0], 1, RLX);
}

/* Loads as often as a register tells that calls keep. */
/* clang-format off */
#ifdef __x86_64__
#define COUNT_IN(name)                                      \
    do {                                                    \
        register uint64_t left __asm__(name) = 5;           \
                                                            \
        while (left-- > 0)                                  \
            (void)__tsan_atomic32_load(&places[1], RLX);    \
    } while (0)
#else
#define COUNT_IN(name) (void)0
#endif
/* clang-format on */

static void
count_up(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    COUNT_IN("rbx");
    COUNT_IN("r12");
    COUNT_IN("r13");
    COUNT_IN("r14");
    COUNT_IN("r15");
    next = 0;
    while (__tsan_atomic32_load(&places[0], RLX) < 9)
        change_next();
}

void
waits_count(void)
{
    const struct sim_kernel kernel = {.name = "count up",
                                      .threads_count = 1,
                                      .threads = {{"t", count_up, NULL}},
                                      .setup = clear};

    sim_engine.program = true;
    for (way = 0; way < 2; way++) {
        struct sim_exhaust_result r;

        sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, 1);
        assert_int_equal(r.bounded, 0);
    }
    sim_engine.program = false;
}

/* ---- Rounds that try to change ---- */

static bool
try_change(void)
{
    uint32_t expected = 1;

    return way == 0 ? __tsan_atomic32_compare_exchange_strong(
                          &places[0], &expected, 2, RLX, RLX) != 0
                    : __tsan_atomic32_fetch_add(&places[0], 0, RLX) == 1;
}

static void
change_or_raise(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        while (!try_change())
            sim_explore_spin_wait();
    } else {
        __tsan_atomic32_store(&places[0], 1, RLX);
    }
}

void
waits_changes(void)
{
    const struct sim_kernel kernel = {
        .name = "change",
        .threads_count = 2,
        .threads = {{"c", change_or_raise, NULL}, {"r", change_or_raise, NULL}},
        .setup = clear};
    uint64_t graphs = 0;

    for (way = 0; way < 2; way++) {
        for (uint32_t unroll = 1; unroll <= 3; unroll++) {
            struct sim_exhaust_result r;

            sim_explore_exhaust(
                &kernel,
                &(struct sim_exhaust_options){.run = {.unroll = unroll}}, &r);
            assert_int_equal(r.verdict, SIM_VERDICT_PASS);
            /* It reads 1; or 0 in a first round, which may differ, and then 1;
             * or it waits. */
            graphs = unroll == 1 ? r.graphs : graphs;
            assert_in_range(graphs, 1, 2);
            assert_int_equal(r.graphs, graphs);
            assert_int_equal(r.bounded, 0);
        }
    }
}

/* ---- The state of a loop ---- */

/* A state has each register and all of the stack from the call on; the sites of
 * loops are known once each, as many as there is room for. */
void
waits_state(void)
{
    enum { STACK_WORDS = 8, SITES_MAX = 256 };
    const struct sim_fiber *fiber = &sim_engine.threads[0].fiber;
    uint64_t *end = (uint64_t *)(void *)(fiber->stack + SIM_FIBER_STACK_BYTES);
    uint64_t first;
    const uintptr_t *sites;
    const uint32_t known = sim_wait_sites(&sites);

    sim_engine.current = 0;
    memset(&sim_caller, 0, sizeof sim_caller);
    sim_caller.stack = end - STACK_WORDS;
    memset(end - STACK_WORDS - 1, 0, (STACK_WORDS + 1) * sizeof *end);
    first = sim_wait_state();
    assert_int_not_equal(first, 0);
    for (uint32_t i = 0; i < 6 + STACK_WORDS; i++) {
        uint64_t *word = i < 6 ? &sim_caller.registers[i] : end - (i - 5);

        *word = 1;
        assert_int_not_equal(sim_wait_state(), first);
        *word = 0;
    }
    end[-STACK_WORDS - 1] = 1; /* below the call */
    assert_int_equal(sim_wait_state(), first);
    sim_engine.cleared_bytes = 0;
    for (uint32_t i = 0; i < 2 * (SITES_MAX + 5); i++) {
        sim_engine.learned = false;
        sim_wait_learn(1 + i / 2);
        assert_int_equal(sim_engine.learned,
                         i % 2 == 0 && known + i / 2 < SITES_MAX);
        assert_int_equal(sim_engine.cleared_bytes, i == 0 ? 2048 : 4096);
        sim_engine.cleared_bytes = 4096;
    }
    assert_int_equal(sim_wait_sites(&sites), SITES_MAX);
    for (uint32_t i = known; i < SITES_MAX; i++)
        assert_int_equal(sites[i], 1 + i - known);
    sim_engine.learned = false;
}

/* ---- Races ---- */

static void
wait_for_reader(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        while (__tsan_atomic32_load(&places[0], ACQ) == 0)
            sim_explore_spin_wait();
        return;
    }
    __tsan_read4(&places[0]);
    __tsan_atomic32_store(&places[1], 1, RLX);
    __tsan_atomic32_store(&places[0], 1, __ATOMIC_RELEASE);
}

void
waits_race(void)
{
    const struct sim_kernel kernel = {
        .name = "reader",
        .threads_count = 2,
        .threads = {{"w", wait_for_reader, NULL}, {"r", wait_for_reader, NULL}},
        .setup = clear};

    for (uint32_t i = 0; i < 2; i++) {
        struct sim_exhaust_result r;

        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.by_schedules = i > 0}, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, 1);
        sim_explore_sample(&kernel, &(struct sim_sample_options){.runs = 50},
                           &r);
        assert_int_equal(r.failures, 0);
    }
}
