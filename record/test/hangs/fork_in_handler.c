/*
 * fork_in_handler.c -- a signal handler forks, whatever it has interrupted; the
 * child returns from the handler and continues.
 *
 * gperftools#499, #932: the child waits for a lock that was held at the fork.
 * Handlers may call _Fork(), but not fork().
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "record/test/hangs/hang.h"

static _Atomic uint32_t forks;
static volatile sig_atomic_t is_child;

pid_t _Fork(void); /* newer than some headers */

static void
on_timer(int number)
{
    const int saved_errno = errno;
    const pid_t pid = _Fork();

    (void)number;
    if (pid == 0) {
        is_child = 1;
        hang_watch();
    } else {
        hang_wait(pid);
        atomic_fetch_add(&forks, 1);
    }
    errno = saved_errno;
}

int
main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_timer,
                                     .sa_flags = SA_RESTART};
    const uint32_t rounds = hang_begin(argc, argv);

    sigaction(SIGVTALRM, &action, NULL);
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        hang_interrupt(i);
        while (atomic_load(&forks) == i && !is_child)
            hang_allocate(50);
        if (is_child) {
            hang_allocate(100);
            _exit(0);
        }
    }
    return 0;
}
