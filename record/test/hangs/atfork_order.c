/*
 * atfork_order.c -- the program's fork handlers allocate and free; some were
 * registered before the profiler's handlers, some after.
 *
 * dd-trace-py#16257, mimalloc-pprof#289, gperftools#1425: a handler meets a
 * profiler that has taken its locks for the fork, or given up its memory.
 *
 * build: needs=out/gcc/record/test/hangs/atfork_library.so
 * ldflags="-Wl,--no-as-needed out/gcc/record/test/hangs/atfork_library.so
 * -Wl,-rpath,'$$ORIGIN'"
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/test/hangs/hang.h"

static void
allocate(void)
{
    hang_allocate(100);
}

static void
handle(void)
{
    hang_allocate(100);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    pthread_atfork(handle, handle, handle);
    hang_threads_begin(2, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        pid_t pid;

        hang_round();
        if ((pid = fork()) == 0) {
            hang_watch();
            hang_allocate(100);
            exit(0);
        }
        hang_wait(pid);
    }
    hang_threads_end();
    return 0;
}
