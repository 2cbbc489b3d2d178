/* aligned.c -- what a program calls for a block with an alignment. */
#include "explore/runtime/program.h"

#include <errno.h>

#include "explore/runtime/explored.h"

void *
explored_memalign(size_t alignment, size_t bytes)
{
    struct engine *e = &sim_engine;

    return sim_heap_allocate_aligned(e, alignment, bytes, HERE);
}

void *
explored_aligned_alloc(size_t alignment, size_t bytes)
{
    struct engine *e = &sim_engine;

    return sim_heap_allocate_aligned(e, alignment, bytes, HERE);
}

int
explored_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    struct engine *e = &sim_engine;
    void *got;

    if (alignment == 0 || alignment % sizeof(void *) != 0 ||
        (alignment & (alignment - 1)) != 0)
        return EINVAL;
    got = sim_heap_allocate_aligned(e, alignment, bytes, HERE);
    if (got == NULL)
        return ENOMEM;
    *block = got;
    return 0;
}
