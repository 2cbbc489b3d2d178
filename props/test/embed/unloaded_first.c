/* unloaded_first.c -- a library for unloading_program.c. */
#include <stddef.h>
#include <stdlib.h>

void *first_allocates(size_t bytes);

void *
first_allocates(size_t bytes)
{
    void *volatile block = malloc(bytes);

    return block;
}
