/* arena.c -- a bump allocator over the caller's scratch. */
#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/core/poison.h"

struct arena
prof_arena_of(const struct prof_output *output)
{
    unsigned char *const at = output->scratch;

    PROF_ASSERT(at != NULL && (uintptr_t)at % PROF_BLOCK_ALIGN == 0);
    return (struct arena){.at = at, .end = at + output->scratch_bytes};
}

void *
prof_arena_take(struct arena *arena, size_t bytes)
{
    const size_t whole = (bytes + 7) & ~(size_t)7;
    void *taken = arena->at;

    if (whole < bytes || whole > (size_t)(arena->end - arena->at))
        return NULL;
    arena->at += whole;
    return taken;
}

uint32_t *
prof_arena_order(struct arena *arena, size_t count, order_before *before,
                 const void *context)
{
    uint32_t *order;
    uint32_t *spare;

    if (count >= UINT32_MAX)
        return NULL;
    order = prof_arena_take(arena, count * sizeof *order);
    spare = prof_arena_take(arena, count * sizeof *spare);
    if (order == NULL || spare == NULL)
        return NULL;
    prof_order(order, spare, count, before, context);
    return order;
}
