/*
 * waited_signal.c -- the program blocks a signal and waits for it, while the
 * profiler has a thread that could receive the signal.
 *
 * A bug of our own: the agent's thread did not block SIGUSR2, and received the
 * signal for which the program waited.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "record/test/hangs/hang.h"

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
