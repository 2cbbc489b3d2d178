/*
 * run_plain.c -- plain accesses: to stacks, how many a run may make, to words
 * with one slot, between signals, in a run that is repeated.
 */
#include "engine.h"
#include "run_calls.h"
#include "run_races.h"

#include <string.h>

#include "unit_test.h"

enum { PLAIN_MOST = 1 << 22 };

static uint8_t memory[16] __attribute__((aligned(64)));
static uint32_t flag;

static void
clear(void *context)
{
    (void)context;
    memset(memory, 0, sizeof memory);
    flag = 0;
}

static uint8_t *shown; /* on a thread's stack */

static void
use_stacks(void *context, uint32_t thread)
{
    const uint32_t *owner = context;
    uint8_t local[64];

    if (thread == *owner) {
        for (uint32_t i = 0; i < 64; i++) {
            sim_plain_access((uintptr_t)&local[i], 1, true, 1);
            sim_plain_access((uintptr_t)&local[i], 1, false, 2);
        }
        shown = local;
        assert_int_equal(sim_self()->plain_count, 0);
    }
    (void)sim_atomic_load((uintptr_t)memory, 4, __ATOMIC_RELAXED, 3);
    if (thread != *owner)
        sim_plain_access((uintptr_t)shown, 1, false, 4);
}

/* A thread's own stack is no business of others. */
TEST(only_its_thread_may_use_a_stack)
{
    uint32_t owner;
    struct sim_kernel kernel = {
        .name = "stack", .context = &owner, .threads_count = SIM_THREADS_MAX};

    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        kernel.threads[i] =
            (struct sim_thread){.name = "t", .body = use_stacks};
    for (owner = 0; owner < SIM_THREADS_MAX; owner++) {
        const struct sim_run run = run_kernel(&kernel);

        assert_int_equal(run.end, SIM_END_FAILED);
        assert_int_equal(run.failure.kind, SIM_FAIL_STACK);
        assert_int_equal(run.failure.thread, owner == 0 ? 1 : 0);
        assert_int_equal(run.failure.site, 4);
        assert_int_equal(run.failure.other_site, 0);
    }
}

static uint32_t plain_returned;

static void
use_one_word(void *context, uint32_t thread)
{
    const uint32_t *begun = context;

    (void)thread;
    sim_engine.plain_count = *begun;
    for (uint32_t i = 0; i < 100000; i++) {
        sim_plain_access((uintptr_t)memory + i % 2 * 4, 4, true, 1);
        plain_returned++;
    }
}

/* ... and takes up no more of the table of cells than one access does. */
TEST(a_run_may_make_4194304_plain_accesses)
{
    uint32_t begun = 0;
    const struct sim_kernel kernel = {.name = "many",
                                      .context = &begun,
                                      .threads = {{"t", use_one_word, NULL}},
                                      .threads_count = 1};
    struct sim_run run;

    assert_int_equal(run_kernel(&kernel).end, SIM_END_COMPLETE);
    begun = PLAIN_MOST - 100000;
    assert_int_equal(run_kernel(&kernel).end, SIM_END_COMPLETE);
    begun++;
    plain_returned = 0;
    run = run_kernel(&kernel);
    assert_int_equal(run.failure.kind, SIM_FAIL_LIMIT);
    assert_string_equal(run.failure.text,
                        "the run has too many plain accesses");
    assert_int_equal(run.failure.other_site, 0);
    assert_int_equal(plain_returned, 99999);
}

/* ---- The table of words ---- */

enum { SHARING = 5 };

static uintptr_t sharing[SHARING]; /* words with the same first slot */

static void
use_sharing(void *context, uint32_t thread)
{
    const uint32_t *raced = context;
    const struct word *words = sim_engine.words;

    for (uint32_t i = 0; i < 1000; i++) {
        const uintptr_t address = sharing[0] + 8 * i;
        const struct word *word = sim_memory_word_apart(address, 1);

        assert_true(word >= words && word < words + WORDS);
        assert_true(word->address == address);
    }
    for (uint32_t i = 0; thread == 0 && i < SHARING; i++)
        sim_plain_access(sharing[i], 8, true, 10 + i);
    for (uint32_t i = 0; thread == 0 && i < SHARING; i++) {
        const struct word *word = sim_memory_word_apart(sharing[i], 1);

        assert_true(word >= words && word < words + WORDS);
    }
    (void)sim_atomic_load((uintptr_t)&flag, 4, __ATOMIC_RELAXED, 3);
    if (thread == 1)
        sim_plain_access(sharing[*raced], 8, true, 4);
}

/* The table goes on at its begin. */
TEST(words_with_one_slot_are_kept_apart)
{
    uint32_t raced = 0;
    const struct sim_kernel kernel = {
        .name = "words",
        .context = &raced,
        .threads = {{"a", use_sharing, NULL}, {"b", use_sharing, NULL}},
        .threads_count = 2};

    assert_int_equal(run_kernel(&kernel).failure.kind, SIM_FAIL_RACE);
    for (uint32_t slot = 0; slot < WORDS; slot += WORDS - 1) {
        uintptr_t address = (uintptr_t)1 << 40;

        for (uint32_t found = 0; found < SHARING; address += 8) {
            if (sim_memory_slot(address) == sim_engine.words + slot)
                sharing[found++] = address;
        }
        for (raced = 0; raced < SHARING; raced++) {
            const struct sim_run run = run_kernel(&kernel);

            assert_int_equal(run.failure.kind, SIM_FAIL_RACE);
            assert_int_equal(run.failure.other_site, 10 + raced);
        }
    }
}

/* ---- How many graphs there are ---- */

static uint64_t
graphs_of(const struct sim_kernel *kernel, bool by_schedules)
{
    const struct sim_exhaust_options options = {.by_schedules = by_schedules};
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    return r.graphs;
}

static void
do_and_store(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_plain_access((uintptr_t)memory, 4, true, 1);
    sim_atomic_store((uintptr_t)&flag, 4, 1, __ATOMIC_RELEASE, 2);
    sim_atomic_store((uintptr_t)memory, 4, 2, __ATOMIC_RELAXED, 3);
}

static void
load_after_store(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (sim_atomic_load((uintptr_t)&flag, 4, __ATOMIC_ACQUIRE, 4) == 1)
        sim_atomic_load((uintptr_t)memory, 4, __ATOMIC_RELAXED, 5);
}

/* The flag is not set, or it is; then either value may be read. */
TEST(what_was_written_plainly_is_a_value_to_read)
{
    static const struct sim_kernel kernel = {
        .name = "overwritten",
        .setup = clear,
        .threads = {{"a", do_and_store, NULL}, {"b", load_after_store, NULL}},
        .threads_count = 2};

    assert_int_equal(graphs_of(&kernel, true), 3);
    assert_int_equal(graphs_of(&kernel, false), 3);
}

static uint32_t signals;

static void
on_signal(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    signals++;
    sim_atomic_store((uintptr_t)&flag, 4, 1, __ATOMIC_RELAXED, 6);
}

static void
do_thrice(void *context, uint32_t thread)
{
    uint8_t local[8];

    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < 3; i++) {
        sim_plain_access((uintptr_t)&memory[i], 1, true, 1);
        sim_plain_access((uintptr_t)local, 1, true, 2);
    }
}

static void
one_signal_at_most(void *context)
{
    (void)context;
    sim_explore_check(signals <= 1, "a signal comes once");
    signals = 0;
}

/* ... or never, and each time is another graph. */
TEST(a_signal_comes_before_any_plain_access)
{
    static const struct sim_kernel kernel = {
        .name = "signal",
        .finish = one_signal_at_most,
        .threads = {{"a", do_thrice, on_signal}},
        .threads_count = 1};

    signals = 0;
    assert_int_equal(graphs_of(&kernel, true), 4);
    assert_int_equal(graphs_of(&kernel, false), 4);
}

/* ---- A run that is repeated ---- */

static uint32_t times;

static void
do_something_else(void *context, uint32_t thread)
{
    const uint32_t how = *(const uint32_t *)context;

    (void)thread;
    sim_plain_access((uintptr_t)memory + (times == 1 && how == 1 ? 1 : 0),
                     times == 1 && how == 2 ? 4 : 8, false, 1);
}

static void
count_runs(void *context)
{
    (void)context;
    times++;
}

TEST(a_repeated_run_makes_the_same_plain_accesses)
{
    uint32_t how;
    const struct sim_kernel kernel = {
        .name = "repeated",
        .context = &how,
        .setup = count_runs,
        .threads = {{"a", do_something_else, NULL}},
        .threads_count = 1};

    for (how = 0; how < 3; how++) {
        struct sim_exhaust_result r;

        times = 0;
        sim_explore_exhaust(&kernel,
                            &(struct sim_exhaust_options){.runs_max = 1}, &r);
        assert_int_equal(times, 2);
        if (how == 0)
            assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        else
            assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
    }
}

int
run_plain_tests(void)
{
    return tests_run(NULL, NULL);
}
