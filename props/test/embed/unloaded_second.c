/* unloaded_second.c -- a library for unloading_program.c. */
#include <stddef.h>
#include <stdlib.h>

void *second_allocates(size_t bytes);

void *
second_allocates(size_t bytes)
{
    void *volatile block = malloc(bytes);

    return block;
}
