/*
 * test_explore_limits.c -- the limits of an explored run: a run that just
 * reaches one passes; one that exceeds it is refused with a message.
 *
 * The tests call the __tsan_* entry points themselves.
 */
#include "explore.h"
#include "tsan.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

static uint64_t memory[1 << 16];
static uint32_t amount;
static uint32_t steps_max;

#define BODY(name) static void name(void *context, uint32_t thread)
#define UNUSED     (void)context, (void)thread

BODY(touch_words)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_write8(&memory[i]);
}

BODY(touch_bytes)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_write1((char *)memory + i);
}

BODY(touch_atomics)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_atomic64_store(&memory[i], 1, __ATOMIC_RELAXED);
}

BODY(take_locks)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        sim_explore_lock(&memory[i], 0);
}

BODY(load_relaxed)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        (void)__tsan_atomic64_load(&memory[0], __ATOMIC_RELAXED);
}

BODY(load_in_order)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        (void)__tsan_atomic64_load(&memory[0], __ATOMIC_SEQ_CST);
}

BODY(store_much)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_atomic64_store(&memory[0], i, __ATOMIC_RELAXED);
}

BODY(read_once)
{
    UNUSED;
    (void)__tsan_atomic64_load(&memory[0], __ATOMIC_RELAXED);
}

/* Make one run: thread 0 to its end, then thread 1. */
static struct sim_failure
run_with(void (*body)(void *context, uint32_t thread),
         void (*after)(void *context, uint32_t thread), uint32_t count)
{
    struct sim_kernel kernel = {
        .name = "limit",
        .about = "a limit",
        .threads = {{"first", body, NULL}, {"then", after, NULL}},
        .threads_count = after != NULL ? 2 : 1,
    };
    const struct sim_run_options options = {.steps_max = steps_max};
    static struct sim_choice list[1 << 16];
    struct sim_choices choices;
    struct sim_run run;

    amount = count;
    sim_choices_init(&choices, list, 1 << 16);
    sim_choices_replay(&choices, NULL, 0);
    sim_explore_run(&kernel, &options, &choices, &run);
    if (run.end == SIM_END_COMPLETE)
        assert_int_equal(run.failure.kind, SIM_FAIL_NONE);
    return run.failure;
}

static void
check_limit(void (*body)(void *context, uint32_t thread),
            void (*after)(void *context, uint32_t thread), uint32_t limit,
            const char *text)
{
    struct sim_failure failure = run_with(body, after, limit);

    if (failure.kind != SIM_FAIL_NONE)
        fail_msg("%u: %s", limit, failure.text);
    failure = run_with(body, after, limit + 1);
    assert_int_equal(failure.kind, SIM_FAIL_LIMIT);
    assert_string_equal(failure.text, text);
    assert_int_equal(failure.other_site, 0);
    failure = run_with(body, after, limit); /* the next is not affected */
    assert_int_equal(failure.kind, SIM_FAIL_NONE);
}

/* The table has 2^15 slots, of which three quarters may be used. */
TEST(a_run_may_touch_24576_words)
{
    check_limit(touch_words, NULL, 24576,
                "the threads touch too many different words");
}

TEST(a_run_may_split_words_into_65536_cells)
{
    check_limit(touch_bytes, NULL, 65536,
                "the threads touch too much plain memory");
}

TEST(a_run_may_use_4096_atomics)
{
    check_limit(touch_atomics, NULL, 4096,
                "the threads touch too many atomics");
}

TEST(a_run_may_use_64_locks)
{
    check_limit(take_locks, NULL, 64, "the threads use too many locks");
}

/* A load may choose among 511 stores of the run and the value before it. */
TEST(a_load_may_choose_of_512_stores)
{
    check_limit(store_much, read_once, 511,
                "an access has more than 512 stores to choose from");
}

TEST(a_run_has_as_many_steps_as_it_may)
{
    static const char text[] = "the run has too many steps (does a wait loop "
                               "lack its sim_explore_spin_wait?)";

    steps_max = 1000;
    check_limit(load_relaxed, NULL, 1000, text);
    steps_max = 0;
    check_limit(load_relaxed, NULL, 20000, text);
    steps_max = 100000;
}

TEST(a_run_may_have_32768_accesses_and_127_seq_cst)
{
    check_limit(load_relaxed, NULL, 1 << 15,
                "the run has too many seq_cst operations");
    check_limit(load_in_order, NULL, 127,
                "the run has too many seq_cst operations");
}

/* The explorer has a handler for abort(): outside of a run it must not stay. */
TEST(an_abort_outside_of_a_run_ends_the_process)
{
    int status = 0;
    pid_t child;

    assert_int_equal(run_with(load_relaxed, NULL, 1).kind, SIM_FAIL_NONE);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        abort();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int
main(void)
{
    steps_max = 100000;
    return tests_run(NULL, NULL);
}
