/*
 * exit_in_dump.c -- the program exits while a profile is made and threads
 * allocate; destructors allocate and free until the end.
 *
 * pprof-nodejs#212, dd-trace-rb#5936: at exit the heap is destroyed before the
 * profiler that reads it.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "record/test/hangs/hang.h"

static void *kept[16];

static void
allocate(void)
{
    hang_allocate(100);
}

static void
at_exit(void)
{
    hang_allocate(100);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        free(kept[i]);
}

static void __attribute__((destructor)) end(void)
{
    hang_allocate(20);
}

static int
child(void)
{
    atexit(at_exit);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        kept[i] = malloc(1000);
    (void)hang_open("plain_library.so");
    hang_threads_begin(2, allocate);
    hang_dump();
    hang_allocate(200);
    exit(0);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    if (argc > 3)
        return child();
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        hang_run_again("child");
    }
    return 0;
}
