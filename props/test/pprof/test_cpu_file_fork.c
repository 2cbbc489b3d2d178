/*
 * test_cpu_file_fork.c -- the file of a CPU profile if the program ends without
 * stopping the profile, and in the child of a fork.
 */
#include <stdio.h>
#include <string.h>

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_file_case.h"
#include "unit_test.h"

static int
exit_code_of(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST_WITH(case_folder_begin, case_folder_end,
          a_program_that_ends_without_a_stop_leaves_nothing)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (case_start() != PROF_OK)
            _exit(1);
        case_burn(0.05);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_int_equal(case_files(), 0);
}

/* Runs in the child, which has no profile of its own yet, and no timer. */
static int
stop_and_start_anew(void)
{
    struct itimerval timer;

    prof_cpu_file_after_fork_child(&cpu_file.file);
    if (prof_cpu_file_stop(&cpu_file.file) != PROF_OK)
        return 1;
    if (case_files() != 0)
        return 2;
    if (getitimer(ITIMER_PROF, &timer) != 0 ||
        timer.it_value.tv_sec + timer.it_value.tv_usec != 0)
        return 5;
    strcat(cpu_file.path, ".child");
    if (case_start() != PROF_OK)
        return 3;
    return prof_cpu_file_stop(&cpu_file.file) == PROF_OK ? 0 : 4;
}

TEST_WITH(case_folder_begin, case_folder_end,
          a_child_of_fork_forgets_the_profile_and_the_parent_keeps_it)
{
    struct itimerval timer = {.it_value = {.tv_sec = 1000}};
    char of_child[128];
    pid_t child;

    assert_int_equal(setitimer(ITIMER_PROF, &timer, NULL), 0);
    assert_int_equal(case_start(), PROF_OK);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(stop_and_start_anew());
    assert_int_equal(exit_code_of(child), 0);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(getitimer(ITIMER_PROF, &timer), 0);
    assert_in_range(timer.it_value.tv_sec, 1, 1001);
    timer.it_value = (struct timeval){0};
    assert_int_equal(setitimer(ITIMER_PROF, &timer, NULL), 0);
    (void)case_ticks();
    case_end(&cpu_file.run);
    snprintf(of_child, sizeof of_child, "%s.child", cpu_file.path);
    assert_int_equal(unlink(of_child), 0);
}

/* Another thread of the parent was in the middle of a call, which made no
 * profile, and held the lock. */
TEST_WITH(case_folder_begin, case_folder_end,
          a_child_may_start_one_though_the_parent_was_busy)
{
    char of_child[128];
    pid_t child;

    prof_port_lock_take(&cpu_file.file.lock);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prof_cpu_file_after_fork_child(&cpu_file.file);
        if (!prof_port_lock_try(&cpu_file.file.lock))
            _exit(9); /* each call would wait for ever */
        prof_port_lock_release(&cpu_file.file.lock);
        _exit(stop_and_start_anew());
    }
    assert_int_equal(exit_code_of(child), 0);
    prof_port_lock_release(&cpu_file.file.lock);
    snprintf(of_child, sizeof of_child, "%s.child", cpu_file.path);
    assert_int_equal(unlink(of_child), 0);
}

/* ---- a fork while another one starts ---- */

static pid_t child_of_start;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *context);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *), void *context)
{
    if (child_of_start == -1) {
        fflush(NULL);
        child_of_start = fork();
        if (child_of_start == 0)
            _exit(stop_and_start_anew());
    }
    return __real_pthread_create(thread, attributes, run, context);
}

TEST_WITH(case_folder_begin, case_folder_end,
          a_child_may_start_one_though_the_parent_was_starting)
{
    char of_child[128];

    child_of_start = -1;
    assert_int_equal(case_start(), PROF_OK);
    assert_true(child_of_start > 0);
    assert_int_equal(exit_code_of(child_of_start), 0);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    snprintf(of_child, sizeof of_child, "%s.child", cpu_file.path);
    assert_int_equal(unlink(of_child), 0);
}

static void
on_signal(int number)
{
    (void)number;
}

TEST_WITH(case_folder_begin, case_folder_end, what_was_not_begun_is_not_ended)
{
    struct sigaction action = {.sa_handler = on_signal};

    assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
    prof_process_end();
    prof_cpu_file_after_fork_child(&cpu_file.file); /* no profile is running */
    assert_int_equal(sigaction(SIGPROF, NULL, &action), 0);
    assert_true(action.sa_handler == on_signal);
    assert_true(signal(SIGPROF, SIG_DFL) == on_signal);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
