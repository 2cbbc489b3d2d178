/*
 * waited_signal.c -- the program blocks a signal and waits for it, while the
 * profiler has a thread that could take it.
 *
 * Of our own: the agent's thread left SIGUSR2 open, and the signal that the
 * program waited for never came.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "hang.h"

static void
allocate(void)
{
    hang_allocate(100);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);
    sigset_t wanted;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    hang_threads_begin(1, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        int number = 0;

        hang_round();
        kill(getpid(), SIGUSR2);
        hang_allocate(200);
        hang_must(sigwait(&wanted, &number) == 0 && number == SIGUSR2,
                  "another signal came");
    }
    hang_threads_end();
    return 0;
}
