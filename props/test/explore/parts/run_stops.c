/* run_stops.c -- where a script, a debugger or a fork stops a run. */
#include "engine.h"
#include "run_calls.h"
#include "run_races.h"
#include "trace.h"
#include "tsan.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "unit_test.h"

static uint32_t places[SIM_THREADS_MAX];
static char lock;

static void
lock_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_lock(&lock, 0);
    sim_explore_unlock(&lock);
}

/* The lock of the second thread, without the first one's unlock. */
TEST(a_script_that_cannot_go_on_ends_the_run)
{
    static const struct trace_event trace[] = {
        {.thread = 0, .from = TRACE_MAX, .before = TRACE_MAX},
        {.thread = 1, .from = TRACE_MAX, .before = TRACE_MAX}};
    static struct trace_event made[TRACE_MAX];
    const struct sim_kernel kernel = kernel_of("locks", lock_once, 2);
    struct sim_run run;

    (void)state;
    sim_engine.trace = made;
    sim_script_begin(trace, 2, (bool[]){true, true}, 1);
    run = run_with(&kernel, &(struct sim_run_options){.silent_ms = 100});
    sim_script_end();
    assert_int_equal(run.end, SIM_END_BLOCKED);
    assert_int_equal(sim_engine.trace_count, 1);
    sim_engine.trace = NULL;
}

#ifdef __x86_64__
static volatile sig_atomic_t stops;

static void
store_four_times(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < 4; i++)
        __tsan_atomic32_store(&places[thread], i, __ATOMIC_RELAXED);
}

/* Return from the function whose first byte is the breakpoint. */
static void
trapped(int number, siginfo_t *info, void *context)
{
    ucontext_t *at = context;
    const uintptr_t stack = (uintptr_t)at->uc_mcontext.gregs[REG_RSP];

    (void)number;
    (void)info;
    stops++;
    memcpy(&at->uc_mcontext.gregs[REG_RIP], (const void *)stack, 8);
    at->uc_mcontext.gregs[REG_RSP] += 8;
}

static void
store_for_long(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < TRACE_MAX / 2; i++)
        __tsan_atomic32_store(&places[thread], i % 2, __ATOMIC_RELAXED);
}

/* A debugger writes its breakpoint over the function. */
TEST(a_breakpoint_is_met_once_before_the_event)
{
    static struct trace_event after[TRACE_MAX];
    const struct sim_kernel all =
        kernel_of("stops", store_four_times, SIM_THREADS_MAX);
    const struct sim_kernel three = kernel_of("long", store_for_long, 3);
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    uint8_t *code = (uint8_t *)(uintptr_t)sim_trace_stopped;
    uint8_t *page = (uint8_t *)((uintptr_t)code & ~(uintptr_t)4095);
    const uint8_t byte = *code;

    (void)state;
    sigaction(SIGTRAP, &action, NULL);
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC),
                     0);
    *code = 0xcc;
    sim_trace_stop_before(17);
    assert_int_equal(run_kernel(&all).end, SIM_END_COMPLETE);
    assert_int_equal(stops, 1);
    assert_int_equal(sim_trace_view[0], 17);
    assert_int_equal(run_kernel(&all).end, SIM_END_COMPLETE);
    assert_int_equal(stops, 1);
    *code = byte;
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
    /* A run has more events than are kept. */
    memset(after, 0xee, sizeof after);
    sim_engine.trace = after;
    sim_engine.trace_count = 0;
    assert_int_equal(run_kernel(&three).end, SIM_END_COMPLETE);
    assert_int_equal(sim_engine.trace_count, TRACE_MAX);
    sim_engine.trace = NULL;
}
#endif

/* ---- Forks ---- */

static void
end_well(void)
{
    _exit(0);
}

TEST(a_fork_outside_of_a_run_ends_the_process)
{
    const pid_t child = fork();
    int status;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        alarm(20);
        sim_explore_fork(end_well);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int
run_stops_tests(void)
{
    return tests_run(NULL, NULL);
}
