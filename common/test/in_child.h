/*
 * in_child.h -- run a test's body in a process of its own: for code that a
 * process can run only once, or that would damage the test program.
 *
 * In `body`, use CHECK() instead of assertions: it prints the condition that
 * does not hold, and ends the process.
 */
#ifndef COMMON_TEST_IN_CHILD_H
#define COMMON_TEST_IN_CHILD_H

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/test/unit_test.h"

#define CHECK(condition) \
    ((condition) ? (void)0 : child_fail(#condition, __FILE__, __LINE__))

static inline void
child_fail(const char *condition, const char *source, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", source, line, condition);
    fflush(stderr);
    _exit(1);
}

/* Run `body` in a child, which must get to its end. */
static inline void
expect_in_child(void (*body)(void))
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#endif
