/*
 * unwind_so.c -- the unwinder of the recorder in a shared object, as it is in
 * the recorder: it leaves out frames of its own object.
 */
#include "recorder.h"

#include <stdlib.h>

_Thread_local struct embed_self embed_self
    __attribute__((tls_model("initial-exec")));
struct embed_state *embed_state;
uint32_t embed_depth_max;

EMBED_HOOK void bench_unwind_begin(void);
EMBED_HOOK uint32_t bench_unwind(uintptr_t *pcs, uint32_t depth_max);
EMBED_HOOK uint32_t bench_unwind_frames(uintptr_t *pcs, uint32_t depth_max);

EMBED_HOOK void
bench_unwind_begin(void)
{
    embed_state = calloc(1, sizeof *embed_state);
    if (embed_state == NULL)
        exit(1);
    embed_unwind_start();
}

static uint32_t
unwind(uintptr_t *pcs, uint32_t depth_max, uintptr_t caller)
{
    static struct embed_stack stack;

    embed_depth_max = depth_max;
    embed_unwind(&stack, caller);
    for (uint32_t i = 0; i < stack.depth; i++)
        pcs[i] = stack.pcs[i];
    return stack.depth;
}

EMBED_HOOK uint32_t
bench_unwind(uintptr_t *pcs, uint32_t depth_max)
{
    embed_by_frames = false;
    return unwind(pcs, depth_max, (uintptr_t)__builtin_return_address(0));
}

EMBED_HOOK uint32_t
bench_unwind_frames(uintptr_t *pcs, uint32_t depth_max)
{
    embed_by_frames = true;
    return unwind(pcs, depth_max, (uintptr_t)__builtin_return_address(0));
}
