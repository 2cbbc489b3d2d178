/*
 * test_fuzz_worlds.c -- the fuzz target of worlds must crash when a run breaks
 * a property; otherwise fuzzing would find nothing. With a wrong rule set it
 * must end its process, whether or not it is told to print what it found.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "rng.h"
#include "unit_test.h"

enum { INPUTS = 2000, INPUT_BYTES = 512, SECONDS = 120 };

/* Make input number `number`: bytes that depend only on the number. */
static void
draw(uint8_t *bytes, uint64_t number)
{
    struct sim_rng rng = {sim_mix64(number)};

    for (size_t i = 0; i < INPUT_BYTES; i++)
        bytes[i] = (uint8_t)sim_rng_next(&rng);
}

/* Fork, and give the target `count` inputs in the child. returns: how the child
 * ended */
static int
status_of(const char *rules, uint64_t inputs)
{
    int status = 0;
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        static uint8_t bytes[INPUT_BYTES];

        alarm(SECONDS);
        close(STDERR_FILENO);
        setenv("PROFSIM_RULES", rules, 1);
        for (uint64_t i = 1; i <= inputs; i++) {
            draw(bytes, i);
            if (LLVMFuzzerTestOneInput(bytes, sizeof bytes) != 0)
                _exit(2);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(a_finding_ends_the_process)
{
    const int status = status_of("go1.6-late", INPUTS);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(what_is_right_goes_on)
{
    const int status = status_of("exact", INPUTS);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
