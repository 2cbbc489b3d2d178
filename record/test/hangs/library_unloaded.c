/*
 * library_unloaded.c -- blocks outlive the library that allocated them, and
 * another library is loaded at its address.
 *
 * async-profiler#1256: the profiler uses what it has cached about a library
 * after the library was unloaded.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "record/test/hangs/hang.h"

enum { BLOCKS = 20 };

static void
allocate(void)
{
    hang_allocate(100);
}

int
main(int argc, char **argv)
{
    static const char *const names[] = {"plain_library.so",
                                        "waiting_library.so"};
    const uint32_t rounds = hang_begin(argc, argv);
    void *(*function)(size_t, size_t);
    void *blocks[BLOCKS];

    hang_threads_begin(1, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        void *const library = hang_open(names[0]);
        void *const found = dlsym(library, "plain_allocate");

        hang_round();
        memcpy(&function, &found, sizeof found);
        for (size_t b = 0; b < BLOCKS; b++)
            blocks[b] = function(b * 5, 100);
        dlclose(library);
        if (i % 2 == 0)
            dlclose(hang_open(names[1]));
        if (i % 8 == 0)
            hang_dump();
        for (size_t b = 0; b < BLOCKS; b++)
            free(blocks[b]);
    }
    hang_threads_end();
    return 0;
}
