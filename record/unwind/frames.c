/*
 * frames.c -- walks stacks by frame pointers.
 *
 *      high  ...
 *            [caller's frame | return address] <--+   main
 *            ...                                  |
 *            [caller's frame | return address] ---+   <--+   work
 *            ...                                         |
 *      frame [caller's frame | return address] ----------+   make
 *      low   ...
 *
 * A function without a frame pointer does one of two things. It leaves its
 * caller's frame pointer in the register: then that caller is missing from the
 * stack. Or it uses the register for something else, which the walk takes for a
 * frame. Hence
 *
 *   I1  Each frame read lies whole between `low`, which is the end of the frame
 *       before, and `high`. So the walk ends after (high - low) / 16 frames.
 *
 * The memory above a frame in use belongs to a stack, and is mapped up to the
 * top of that stack.
 */
#include "record/unwind/frames.h"

#include <stddef.h>

struct frame {
    uintptr_t caller; /* its frame */
    uintptr_t pc;     /* where this one returns to */
};

static bool
is_frame(uintptr_t at, uintptr_t low, uintptr_t high)
{
    return at >= low && at < high && high - at >= sizeof(struct frame) &&
           at % _Alignof(struct frame) == 0;
}

uint32_t
embed_frames_walk(uintptr_t *pcs, uint32_t depth_max, uintptr_t frame,
                  const struct embed_bounds *bounds)
{
    uintptr_t low = bounds->low;
    uint32_t depth = 0;

    while (depth < depth_max && is_frame(frame, low, bounds->high)) {
        const struct frame *at = (const struct frame *)frame;

        if (at->pc == 0)
            break; /* no caller: a thread begins here */
        pcs[depth++] = at->pc;
        low = frame + sizeof *at; /* I1 */
        frame = at->caller;
    }
    return depth;
}
