/*
 * constructor_thread.c -- a library's constructor waits for a thread that
 * allocates, while other threads allocate, too.
 *
 * memray#669: two threads deadlock while modules are imported. dlopen() holds
 * the loader's lock while constructors run, so a profiler that calls any
 * function of the loader waits for the constructor.
 */
#include <dlfcn.h>

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

    hang_threads_begin(1, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        dlclose(hang_open("waiting_library.so"));
    }
    hang_threads_end();
    return 0;
}
