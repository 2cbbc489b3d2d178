/* unloaded_first.c -- a library for unloading_program.c. */
/* build: so=unloaded_first.so */
#include <stddef.h>
#include <stdlib.h>

void *first_allocates(size_t bytes);
void *first_asks(void *(*allocate)(size_t bytes), size_t bytes);

void *
first_allocates(size_t bytes)
{
    volatile unsigned char frame[8];
    void *volatile block;

    frame[0] = 1;
    block = malloc(bytes + frame[0] - 1);
    return block;
}

void *
first_asks(void *(*allocate)(size_t bytes), size_t bytes)
{
    void *volatile block = allocate(bytes);

    return block;
}
