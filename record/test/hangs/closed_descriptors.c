/*
 * closed_descriptors.c -- a program closes every descriptor that it does not
 * know, as daemons do, and relies on the numbers that it gets next.
 *
 * perfetto#569, HPCToolkit#548: the profiler keeps using a descriptor that is
 * now another file, and spins, or writes into that file.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/test/hangs/hang.h"

enum { FILES = 4, FIRST = 3 };

static void
allocate(void)
{
    hang_allocate(100);
}

/* Check that the file has only what was written to it. */
static void
check(int file, const char *text)
{
    char bytes[64] = "";
    const ssize_t count = pread(file, bytes, sizeof bytes, 0);

    hang_must(count == (ssize_t)strlen(text) &&
                  memcmp(bytes, text, (size_t)count) == 0,
              "a file has other bytes than were written");
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    hang_threads_begin(1, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        if (i % 4 == 0)
            hang_dump();
        hang_must(syscall(SYS_close_range, FIRST, ~0U, 0) == 0, "not closed");
        for (int f = FIRST; f < FIRST + FILES; f++)
            hang_must((int)syscall(SYS_memfd_create, "file", 0) == f,
                      "open() returns another number than the lowest");
        for (int f = FIRST; f < FIRST + FILES; f++)
            hang_must(write(f, "mine", 4) == 4, "not written");
        hang_allocate(200);
        for (int f = FIRST; f < FIRST + FILES; f++)
            check(f, "mine");
    }
    hang_threads_end();
    return 0;
}
