/*
 * malloc.c -- a program that profiles its own heap, with the profiler linked.
 *
 *      cc malloc.c -lprof-malloc
 *
 * usage: malloc FOLDER: where to write PID.heap.pb and the like
 */
#include <prof/malloc.h>

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000, BYTES = 12345 };

int
main(int argc, char **argv)
{
    static void *volatile blocks[BLOCKS];
    struct prof_malloc_status status;
    int i;

    if (argc != 2)
        return 2;
    prof_malloc_rate_set(1); /* all of them; a server keeps the default */
    for (i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(BYTES);
    for (i = 0; i < BLOCKS; i += 4)
        free(blocks[i]);
    if (prof_malloc_dump(argv[1]) != PROF_OK ||
        prof_malloc_status(&status) != PROF_OK || status.dropped_samples != 0)
        return 1;
    printf("allocated %d kept %d\n", BLOCKS, BLOCKS - BLOCKS / 4);
    return 0;
}
