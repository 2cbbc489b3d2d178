/* unloaded_second.c -- a library for unloading_program.c. */
/* build: so=unloaded_second.so */
#include <stddef.h>
#include <stdlib.h>

void *second_allocates(size_t bytes);

void *
second_allocates(size_t bytes)
{
    volatile unsigned char frame[56];
    void *volatile block;

    frame[0] = 1;
    block = malloc(bytes + frame[0] - 1);
    return block;
}
