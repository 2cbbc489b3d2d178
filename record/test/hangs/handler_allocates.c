/*
 * handler_allocates.c -- a signal handler allocates while the program takes or
 * releases a lock, so it may interrupt the hook of a lock profiler.
 *
 * perfetto#473, dd-trace-py#13185: a hook that runs inside itself deadlocks, or
 * finds its own buffer half filled.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sched.h>

#include "record/test/hangs/hang.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t handled;
static void *kept;

static void
on_timer(int number)
{
    const int saved_errno = errno;

    (void)number;
    errno = 77;
    hang_allocate(20);
    hang_must(errno == 77, "malloc changes errno");
    free(kept);
    kept = malloc(200);
    atomic_fetch_add(&handled, 1);
    errno = saved_errno;
}

static void
contend(void)
{
    pthread_mutex_lock(&mutex);
    sched_yield();
    pthread_mutex_unlock(&mutex);
}

int
main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_timer,
                                     .sa_flags = SA_RESTART};
    const uint32_t rounds = hang_begin(argc, argv);

    hang_threads_begin(1, contend); /* SIGVTALRM is blocked in that thread */
    sigaction(SIGVTALRM, &action, NULL);
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        hang_interrupt(i);
        while (atomic_load(&handled) == i)
            contend();
    }
    hang_threads_end();
    free(kept);
    return 0;
}
