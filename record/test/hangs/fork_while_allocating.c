/*
 * fork_while_allocating.c -- forks while other threads allocate, wait for locks
 * and load libraries; the child allocates and ends. (By _exit(): the loader's
 * lock may be held, and exit() takes it.)
 *
 * gperftools#1425, #178, dd-trace-py#1693: the child has a copy of a lock whose
 * holder does not exist in the child.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "record/test/hangs/hang.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t turn;

static void
allocate(void)
{
    if (atomic_fetch_add(&turn, 1) % 8 == 0)
        dlclose(hang_open("plain_library.so"));
    pthread_mutex_lock(&mutex);
    hang_allocate(20);
    pthread_mutex_unlock(&mutex);
    hang_allocate(100);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    hang_threads_begin(3, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        pid_t pid;

        hang_round();
        if ((pid = fork()) == 0) {
            hang_watch();
            hang_allocate(200);
            _exit(0);
        }
        hang_wait(pid);
    }
    hang_threads_end();
    return 0;
}
