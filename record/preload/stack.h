/*
 * stack.h -- the call stack of an event, and memory to take it in.
 *
 * A stack is taken in borrowed memory: a hook may run on a coroutine's stack of
 * a few KiB, and must use little of it.
 */
#ifndef RECORD_PRELOAD_STACK_H
#define RECORD_PRELOAD_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/preload/spool.h"
#include "record/unwind/stack_memory.h"

#define EMBED_PATH_BYTES 1024u

struct embed_stack {
    uint64_t hash;
    uint32_t depth;
    bool is_cut; /* there are more frames */
    uintptr_t pcs[EMBED_DEPTH_MAX + 1];
    char path[EMBED_PATH_BYTES]; /* scratch for the paths of its modules */
};

/* Get the memory from which threads borrow stacks. returns: false if there is
 * none */
bool embed_stacks_start(void);

/* In a forked child: release what its parent's other threads had borrowed. */
void embed_stacks_reclaim(void);

/*
 * Borrow memory for a stack. A thread holds at most one at a time, while it
 * logs an event. While all are in use the call yields.
 *
 * context: inside; embed_stacks_start() has returned true
 */
struct embed_stack *embed_stack_borrow(void);
void embed_stack_return(struct embed_stack *stack);

/*
 * Take the stack of a hook's caller.
 *
 * out:     *stack, at least one frame deep
 * in:      frame, __builtin_frame_address(0) of the hook
 *          own, the calling thread's
 */
void embed_stack_take(struct embed_stack *stack, const void *frame,
                      struct embed_own_stack *own);

extern uint32_t embed_depth_max;
extern bool embed_by_frames; /* the program keeps frame pointers */

#endif
