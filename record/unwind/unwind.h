/*
 * unwind.h -- call stacks of the running program, without its cooperation.
 *
 * A walk takes no lock, allocates nothing, opens no descriptor, never waits for
 * the dynamic linker, and uses a few hundred bytes of stack. So a stack can be
 * taken in an allocator's hook, in a signal handler, in a forked child, and on
 * a coroutine.
 */
#ifndef RECORD_UNWIND_UNWIND_H
#define RECORD_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "record/unwind/cfi.h"
#include "record/unwind/stack_memory.h"

/*
 * Get memory in which walks cache the rules of code. Without it every
 * walk reads the tables again.
 */
void embed_unwind_start(void);

/* Forget all cached rules, because a library is about to be unloaded, or was
 * unloaded: other code may be mapped at its addresses. */
void embed_unwind_forget(void);

/* returns: an address of code and the number of unloads so far, in one word */
uint64_t embed_unwind_key(uintptr_t pc);

/*
 * Walk from a frame to its callers.
 *
 * out:     pcs, the innermost first: from->pc, then return addresses
 * in:      pcs_max, room in pcs, at least 1
 *          from, where the walk begins
 *          interrupted, is from->pc the next instruction instead of a return
 *          address?
 *          own, the calling thread's
 * returns: the number of pcs, at least 1. A stack ends where it cannot be
 *          followed any further.
 * context: any thread, signal handlers included; errno is left alone
 */
uint32_t embed_unwind_walk(uintptr_t *pcs, uint32_t pcs_max,
                           const struct embed_registers *from, bool interrupted,
                           struct embed_own_stack *own);

/* The caller of a function that keeps a frame pointer. in: its frame address */
static inline struct embed_registers
embed_caller_of(const void *frame)
{
    const uintptr_t *const words = frame;

    return (struct embed_registers){
        .pc = words[1], .sp = (uintptr_t)&words[2], .fp = words[0]};
}

#endif
