/* plain_library.c -- allocates when it is loaded, called and unloaded. */
/* build: so=plain_library.so */
#include <stdlib.h>

void *plain_allocate(size_t depth, size_t bytes);

static void *block;

static void __attribute__((constructor)) begin(void)
{
    block = malloc(100);
}

static void __attribute__((destructor)) end(void)
{
    free(block);
    free(malloc(50));
}

/* Allocate on a stack of any depth. The addition prevents a tail call. */
__attribute__((noinline)) void *
plain_allocate(size_t depth, size_t bytes)
{
    char *const at =
        depth == 0 ? malloc(bytes) : plain_allocate(depth - 1, bytes + 1);

    if (at != NULL && bytes > 0)
        at[0] = (char)depth;
    return at;
}
