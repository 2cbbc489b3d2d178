/*
 * atfork_library.c -- a library for atfork_order.c: its constructor registers
 * fork handlers before those of preloaded libraries.
 *
 * build: so=atfork_library.so ldflags=-Wl,-soname,atfork_library.so
 */
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 64 };

static void *blocks[BLOCKS];

/* Free the block that the last call allocated. */
static void
handle(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
        blocks[i] = malloc(i * 8 + 1);
    }
}

static void __attribute__((constructor)) begin(void)
{
    pthread_atfork(handle, handle, handle);
}
