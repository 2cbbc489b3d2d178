/*
 * run_engine.c -- what surrounds the threads of a run: stacks, crashes, ticks
 * of the timer, starts, sites, and what is left of the runs before.
 */
#include "engine.h"
#include "run_calls.h"
#include "run_races.h"
#include "tsan.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

static uint32_t place;
static uint32_t other;
static uint32_t went_on;

/* Let the explorer catch signals again: cmocka has taken them. */
static void
catch_again(void)
{
    sim_engine.locations = NULL;
}

/* ---- Stacks ---- */

static bool
is_all(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

static void
enter_nothing(void)
{
}

TEST(a_stack_is_cleared_and_prepared)
{
    struct sim_fiber fiber = {.stack = NULL};
    uint8_t *end;

    (void)state;
    sim_fiber_init(&fiber);
    end = fiber.stack + SIM_FIBER_STACK_BYTES;
    assert_true(is_all(fiber.stack, SIM_FIBER_STACK_BYTES, 0));
    memset(fiber.stack, 0xaa, SIM_FIBER_STACK_BYTES);
    assert_true(sim_fiber_owns(&fiber, (uintptr_t)fiber.stack));
    assert_true(sim_fiber_owns(&fiber, (uintptr_t)end - 1));
    assert_false(sim_fiber_owns(&fiber, (uintptr_t)end));
    assert_false(sim_fiber_owns(&fiber, (uintptr_t)fiber.stack - 1));
    sim_fiber_clear(&fiber, 1000);
    assert_true(is_all(end - 1000, 1000, 0));
    assert_true(is_all(fiber.stack, SIM_FIBER_STACK_BYTES - 1000, 0xaa));
    sim_fiber_forget(&fiber);
    assert_true(is_all(fiber.stack, SIM_FIBER_STACK_BYTES, 0));
    /* The system does not take back memory that is locked. */
    memset(fiber.stack, 0xaa, SIM_FIBER_STACK_BYTES);
    assert_int_equal(mlock(fiber.stack, 4096), 0);
    sim_fiber_forget(&fiber);
    assert_true(is_all(fiber.stack, SIM_FIBER_STACK_BYTES, 0));
    assert_int_equal(munlock(fiber.stack, 4096), 0);
#ifdef SIM_FIBER_FAST
    memset(fiber.stack, 0xaa, SIM_FIBER_STACK_BYTES);
    sim_fiber_prepare(&fiber, enter_nothing);
    assert_ptr_equal(fiber.stack_pointer, end - 64);
    assert_true(is_all(end - 64, 48, 0));
    assert_int_equal(((uintptr_t *)(void *)end)[-2], (uintptr_t)enter_nothing);
    assert_int_equal(((uintptr_t *)(void *)end)[-1], 0);
    assert_true(is_all(fiber.stack, SIM_FIBER_STACK_BYTES - 64, 0xaa));
#else
    (void)enter_nothing;
#endif
}

enum { UNUSED_BYTES = SIM_FIBER_STACK_BYTES - 16 * 1024 };

static void
fill_stack(void *context, uint32_t thread)
{
    (void)context;
    memset(sim_engine.threads[thread].fiber.stack, 0xaa, UNUSED_BYTES);
}

static void
find_clear_stack(void *context, uint32_t thread)
{
    (void)context;
    assert_true(
        is_all(sim_engine.threads[thread].fiber.stack, UNUSED_BYTES, 0));
}

TEST(a_kernel_finds_nothing_that_another_left_on_the_stacks)
{
    const struct sim_kernel fills =
        kernel_of("fills", fill_stack, SIM_THREADS_MAX);
    const struct sim_kernel finds =
        kernel_of("finds", find_clear_stack, SIM_THREADS_MAX);

    (void)state;
    assert_int_equal(run_kernel(&fills).end, SIM_END_COMPLETE);
    assert_int_equal(run_kernel(&finds).end, SIM_END_COMPLETE);
}

/* ---- Crashes ---- */

static uint32_t crash_in; /* 0: setup, 1: a thread, 2: the final check */
static int crash_signal;  /* 0, -1: at the end of the stack, by a read, write */

static void
crash(void)
{
    volatile uint8_t *below = sim_self()->fiber.stack - 1;

    if (crash_signal > 0)
        raise(crash_signal);
    else if (crash_signal == 0)
        (void)*below;
    else
        *below = 1;
    went_on++;
}

static void
crash_in_setup(void *context)
{
    (void)context;
    CALL(__tsan_atomic32_store, &place, 0, __ATOMIC_RELAXED); /* no event */
    if (crash_in == 0)
        crash();
}

static void
crash_in_thread(void *context, uint32_t thread)
{
    (void)context;
    CALL(__tsan_atomic32_load, &place, __ATOMIC_RELAXED);
    if (crash_in == 1 && thread == 1)
        crash();
}

static void
crash_in_check(void *context)
{
    (void)context;
    if (crash_in == 2)
        crash();
}

static struct sim_kernel
crashing_kernel(void)
{
    struct sim_kernel kernel = kernel_of("crashes", crash_in_thread, 3);

    kernel.setup = crash_in_setup;
    kernel.finish = crash_in_check;
    return kernel;
}

/* Twice, because a signal that stays blocked comes once only. */
TEST(a_crash_ends_the_run_and_not_the_process)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                  SIGABRT, 0,      -1};
    const struct sim_kernel kernel = crashing_kernel();

    (void)state;
    catch_again();
    for (uint32_t i = 0; i < 2 * sizeof signals / sizeof signals[0]; i++) {
        crash_signal = signals[i / 2];
        for (crash_in = 0; crash_in < 4; crash_in++) {
            struct sim_run run;

            if (crash_signal <= 0 && crash_in != 1)
                continue;
            went_on = 0;
            run = run_kernel(&kernel);
            assert_int_equal(went_on, 0);
            assert_int_equal(sim_explore_thread(), 0); /* it has ended */
            if (crash_in == 3) {
                assert_int_equal(run.end, SIM_END_COMPLETE);
                assert_int_equal(run.failure.kind, SIM_FAIL_NONE);
                assert_string_equal(run.failure.text, "");
                assert_int_equal(run.failure.site, 0);
                continue;
            }
            assert_int_equal(run.end, SIM_END_FAILED);
            assert_int_equal(run.failure.kind, SIM_FAIL_CRASH);
            assert_string_equal(
                run.failure.text,
                strsignal(crash_signal > 0 ? crash_signal : SIGSEGV));
            assert_int_equal(run.failure.site, crash_in == 1 ? HERE : 0);
            assert_int_equal(run.failure.other_site, 0);
            if (crash_in == 1)
                assert_int_equal(run.failure.thread, 1);
        }
    }
}

static uint32_t
use_up_stack(volatile uint32_t *caller)
{
    volatile uint32_t mine[256];

    mine[0] = *caller + 1;
    return mine[0] == 0 ? 0 : use_up_stack(mine) + mine[0];
}

static void
recurse(void *context, uint32_t thread)
{
    volatile uint32_t depth = 0;

    (void)context;
    (void)thread;
    went_on += use_up_stack(&depth);
}

TEST(a_stack_that_is_used_up_is_a_crash)
{
    const struct sim_kernel kernel = kernel_of("recurses", recurse, 2);

    (void)state;
    catch_again();
    assert_int_equal(run_kernel(&kernel).failure.kind, SIM_FAIL_CRASH);
}

static volatile sig_atomic_t handled;

static void
own_handler(int signal_number)
{
    if (++handled == 2)
        _exit(signal_number == SIGABRT ? 42 : 43);
}

/* Outside of a run, a signal does what it would without the explorer. */
TEST(a_crash_outside_of_a_run_ends_the_process)
{
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE,
                                  SIGILL,  SIGABRT, -SIGABRT};
    const struct sim_kernel kernel = crashing_kernel();

    (void)state;
    for (uint32_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        const bool ignored = signals[i] < 0;
        int status;
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            alarm(20);
            signal(SIGABRT, ignored ? own_handler : SIG_DFL);
            catch_again();
            crash_in = 1;
            crash_signal = SIGFPE;
            run_kernel(&kernel);
            raise(abs(signals[i]));
            if (signals[i] != SIGABRT) /* what trapped would do so again */
                raise(abs(signals[i]));
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (ignored) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 42);
        } else {
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), signals[i]);
        }
    }
}

/* ---- The timer: raised by hand ---- */

static uint32_t between; /* what the thread does between two ticks */

static void
tick_twice(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    CALL(__tsan_atomic32_load, &place, __ATOMIC_RELAXED);
    raise(SIGVTALRM);
    if (between == 1)
        __tsan_read4(&other);
    if (between == 2)
        CALL(__tsan_atomic32_load, &place, __ATOMIC_RELAXED);
    if (between == 4) { /* one more, 0 to 3 plain: the same if mixed up */
        CALL(__tsan_atomic32_load, &place, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < 3; i++)
            __tsan_read4(&other);
    }
    if (between != 3)
        raise(SIGVTALRM);
    went_on++;
}

TEST(a_run_ends_when_two_ticks_pass_without_an_access)
{
    const struct sim_kernel kernel = kernel_of("ticks", tick_twice, 1);
    struct sim_run run;

    (void)state;
    catch_again();
    for (between = 0; between < 5; between++) {
        for (uint32_t i = 0; i < 3; i++) {
            went_on = 0;
            run = run_kernel(&kernel);
            raise(SIGVTALRM); /* no run: nothing happens */
            raise(SIGVTALRM);
            assert_int_equal(went_on, between != 0);
            if (between != 0) {
                assert_int_equal(run.end, SIM_END_COMPLETE);
                continue;
            }
            assert_int_equal(run.end, SIM_END_FAILED);
            assert_int_equal(run.failure.kind, SIM_FAIL_LIMIT);
            assert_string_equal(run.failure.text,
                                "the run goes on without any access to memory "
                                "that others see");
            assert_int_equal(run.failure.site, HERE);
            assert_int_equal(run.failure.other_site, 0);
        }
    }
}

static void
interrupt_call(void *context, uint32_t thread)
{
    struct sigaction action;

    (void)context;
    (void)thread;
    assert_int_equal(sigaction(SIGVTALRM, NULL, &action), 0);
    assert_true((action.sa_flags & SA_RESTART) != 0);
    went_on++;
}

/* Half the time that may pass, and system calls do not see it. */
TEST(the_timer_ticks_twice_in_the_time)
{
    static const uint32_t asked[] = {0, 100, 3000, 4002, 1998};
    static const uint32_t tick_ms[] = {1000, 50, 1500, 2001, 999};
    const struct sim_kernel kernel = kernel_of("call", interrupt_call, 1);

    (void)state;
    catch_again();
    for (uint32_t i = 0; i < 5; i++) {
        struct itimerval timer;

        went_on = 0;
        run_with(&kernel, &(struct sim_run_options){.silent_ms = asked[i]});
        assert_int_equal(went_on, 1);
        assert_int_equal(getitimer(ITIMER_VIRTUAL, &timer), 0);
        assert_int_equal(timer.it_interval.tv_sec, tick_ms[i] / 1000);
        assert_int_equal(timer.it_interval.tv_usec, tick_ms[i] % 1000 * 1000);
        assert_true(timer.it_value.tv_sec + timer.it_value.tv_usec > 0);
    }
}

/* ---- Final checks ---- */

static uint32_t places[3];

static void
add_twice(void *context, uint32_t thread)
{
    (void)context;
    __tsan_atomic32_fetch_add(&places[thread], 1, __ATOMIC_RELAXED);
    __tsan_atomic32_fetch_add(&place, 1, __ATOMIC_RELAXED);
    __tsan_atomic32_fetch_add(&places[thread], 1, __ATOMIC_RELAXED);
}

static void
clear_places(void *context)
{
    (void)context;
    place = 0;
    memset(places, 0, sizeof places);
}

static void
fail_check(void *context)
{
    (void)context;
    raise(SIGFPE);
}

/* Three threads add in as many orders as there are permutations; what each does
 * alone has no order. */
TEST(each_graph_is_checked_once)
{
    struct sim_kernel kernel = kernel_of("adds", add_twice, 3);

    (void)state;
    catch_again();
    kernel.setup = clear_places;
    kernel.finish = fail_check;
    for (uint32_t how = 0; how < 3; how++) {
        const struct sim_exhaust_options options = {.by_schedules = how > 0,
                                                    .run.lazy_start = how > 1,
                                                    .keep_going = true};
        struct sim_exhaust_result r;

        sim_explore_exhaust(&kernel, &options, &r);
        assert_int_equal(r.failures, 6);
        free(r.choices);
    }
}

/* ---- Threads that a run creates ---- */

enum { CREATED_RUNS = 400 };

static uint32_t winner; /* of the two, by its number */
static uint32_t winner_count[3];
static uint32_t stalled_count;

static void
take_place(void *number)
{
    if (__tsan_atomic32_fetch_add(&place, 1, __ATOMIC_RELAXED) == 0)
        winner = *(const uint32_t *)number;
}

static void
create_two(void *context, uint32_t thread)
{
    static uint32_t numbers[] = {1, 2};

    (void)context;
    (void)thread;
    sim_thread_create(take_place, &numbers[0], 0, 1);
    sim_thread_create(take_place, &numbers[1], 0, 2);
}

static void
forget_places(void *context)
{
    (void)context;
    place = winner = 0;
}

static void
count_winner(void *context, const struct sim_run *run)
{
    (void)context;
    assert_int_equal(run->end, SIM_END_COMPLETE);
    winner_count[winner]++;
    stalled_count += sim_engine.stall_thread != 0;
}

/* The second thread takes the first place if the first one has the lowest of
 * the three priorities, in a third of the runs; and each of the three stands
 * still in a third. 400 runs miss a range of six deviations with a chance below
 * 1e-8. */
TEST(threads_that_a_run_creates_are_scheduled_like_others)
{
    const struct sim_kernel kernel = {.name = "created",
                                      .about = "two threads are created",
                                      .setup = forget_places,
                                      .threads = {{"create", create_two, NULL}},
                                      .threads_count = 1};
    struct sim_sample_options options = {
        .run = {.strategy = SIM_STRATEGY_PCT, .pct_depth = 1},
        .runs = CREATED_RUNS,
        .seed = 1,
        .after_run = count_winner};
    struct sim_exhaust_result r;

    sim_explore_sample(&kernel, &options, &r);
    assert_int_equal(winner_count[1] + winner_count[2], CREATED_RUNS);
    assert_in_range(winner_count[1], 210, 323);
    options.run.strategy = SIM_STRATEGY_STALL;
    stalled_count = 0;
    sim_explore_sample(&kernel, &options, &r);
    assert_in_range(stalled_count, 210, 323);
}

int
run_engine_tests(void)
{
    return tests_run(NULL, NULL);
}
