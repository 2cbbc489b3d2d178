/*
 * test_forks.c -- fork in the middle of a call: a signal handler forks after
 * any one instruction of a record or control call. The child finishes the call
 * in its copy of memory, records more, publishes everything, and must find its
 * own events; the parent must find its own events and no others.
 *
 * A child does not inherit timers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aligned_block.h"
#include "interrupted.h"
#include "prof/process.h"
#include "single_step.h"
#include "unit_test.h"

enum { FORK_STRIDE = 23, CHILD_SECONDS = 20 };

static bool is_child;
static int child_status;

/* ---- at any instruction ---- */

/* The child records more events; the parent waits until the child has ended. */
static void
strike(void)
{
    const pid_t child = fork();

    if (child == 0) {
        is_child = true;
        alarm(CHILD_SECONDS);
        interrupted_live();
        return;
    }
    if (child < 0 || waitpid(child, &child_status, 0) != child)
        child_status = -1;
}

static void
fork_at(const struct interrupted_call *call, uint32_t at)
{
    const char *why;

    child_status = 0;
    assert_null(interrupted_begin());
    props_step_begin(strike, at);
    call->call();
    props_step_end();
    why = interrupted_check();
    if (is_child) {
        if (why != NULL)
            fprintf(stderr, "%s, forked at instruction %u: the child: %s\n",
                    call->name, at, why);
        _exit(why != NULL);
    }
    if (why != NULL)
        fail_msg("%s, forked at instruction %u: %s", call->name, at, why);
    assert_int_equal(child_status, 0);
}

TEST(a_process_may_fork_in_the_middle_of_any_call)
{
    for (size_t i = 0; i < INTERRUPTED_CALLS; i++) {
        uint32_t steps;

        assert_null(interrupted_begin());
        props_step_begin(NULL, 0);
        interrupted_calls[i].call();
        steps = props_step_end();
        for (uint32_t at = 1; at <= steps; at += FORK_STRIDE)
            fork_at(&interrupted_calls[i], at);
    }
}

/* ---- between two calls ---- */

/* Fork. The child says by its exit code whether all is well. */
static void
in_child(bool (*is_well)(void *context), void *context)
{
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(is_well(context) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool
has_no_timer(void *context)
{
    const struct prof_timer *timer = context;
    struct itimerspec left;

    return timer_gettime(timer->id, &left) != 0 && errno == EINVAL;
}

/* The child may leave the trace's session, and the parent's session goes on. */
static bool
leaves(void *cpu)
{
    prof_process_end();
    return prof_cpu_stop(cpu) == PROF_OK &&
           prof_cpu_start(cpu, 100) == PROF_OK &&
           prof_process_begin(cpu, NULL) == PROF_OK;
}

TEST(a_child_ticks_only_if_it_asks_for_it)
{
    const struct prof_cpu_config config = {.ticks_max = 64, .stacks_max = 8};
    const size_t bytes = prof_cpu_bytes_needed(&config);
    void *block = props_block(bytes, 0);
    const uintptr_t stack[] = {0x1000};
    struct prof_timer timer;
    struct prof_cpu *cpu;

    assert_int_equal(prof_cpu_init(&cpu, &config, block, bytes), PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 1), PROF_OK);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    assert_int_equal(prof_timer_open(&timer, 1), PROF_OK);
    in_child(has_no_timer, &timer);
    in_child(leaves, cpu);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_ERR_ACTIVE);
    prof_cpu_tick(cpu, stack, 1, NULL);
    prof_timer_close(&timer);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_true(prof_cpu_totals(cpu).recorded >= 1);
    free(block);
}

int
main(void)
{
    return tests_run(interrupted_open, interrupted_close);
}
