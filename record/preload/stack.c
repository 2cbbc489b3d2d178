/*
 * stack.c -- takes the stacks of events: by frame pointers if the user says
 * that the program keeps them and the thread is on its own stack, else by
 * unwind tables.
 */
#include "record/preload/stack.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/unwind/frames.h"
#include "record/unwind/unwind.h"

#define STACKS 1024u /* one per thread that logs at a time; 2 MiB */

struct borrowed {
    _Atomic uint32_t held;
    struct embed_stack stack;
};

uint32_t embed_depth_max = 32;
bool embed_by_frames;

static struct borrowed *borrowed;
static _Thread_local uint32_t last __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t next_first;

bool
embed_stacks_start(void)
{
    void *place;

    if (borrowed != NULL)
        return true;
    place = mmap(NULL, STACKS * sizeof *borrowed, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return false;
    borrowed = place;
    return true;
}

void
embed_stacks_reclaim(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        if (atomic_load_explicit(&borrowed[i].held, memory_order_relaxed) != 0)
            atomic_store_explicit(&borrowed[i].held, 0, memory_order_relaxed);
}

/* A thread begins its search at the stack that it had last, which is usually
 * free. */
struct embed_stack *
embed_stack_borrow(void)
{
    if (last == 0)
        last = 1 + atomic_fetch_add(&next_first, 1) % STACKS;
    for (uint32_t i = last - 1, tried = 0;; i = (i + 1) % STACKS) {
        if (atomic_exchange_explicit(&borrowed[i].held, 1,
                                     memory_order_acquire) == 0) {
            last = i + 1;
            return &borrowed[i].stack;
        }
        if (++tried % STACKS == 0)
            sched_yield();
    }
}

void
embed_stack_return(struct embed_stack *stack)
{
    struct borrowed *const from =
        (void *)((char *)stack - offsetof(struct borrowed, stack));

    atomic_store_explicit(&from->held, 0, memory_order_release);
}

static uint64_t
hash_of(const uintptr_t *pcs, uint32_t depth)
{
    uint64_t hash = depth;

    for (uint32_t i = 0; i < depth; i++) {
        hash = (hash ^ pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* returns: the number of frames; 0 if the thread is not on its own stack */
static uint32_t
walk_frames(struct embed_stack *stack, const struct embed_registers *from,
            struct embed_own_stack *own)
{
    struct embed_stack_memory memory = {.own = own};

    embed_stack_memory_begin(&memory, from->sp);
    if (memory.bounds.high != own->bounds.high)
        return 0;
    stack->pcs[0] = from->pc;
    return 1 + embed_frames_walk(&stack->pcs[1], embed_depth_max, from->fp,
                                 &memory.bounds);
}

void
embed_stack_take(struct embed_stack *stack, const void *frame,
                 struct embed_own_stack *own)
{
    const struct embed_registers from = embed_caller_of(frame);

    stack->depth = embed_by_frames ? walk_frames(stack, &from, own) : 0;
    if (stack->depth == 0)
        stack->depth = embed_unwind_walk(stack->pcs, embed_depth_max + 1, &from,
                                         false, own);
    stack->is_cut = stack->depth > embed_depth_max;
    stack->depth -= stack->is_cut;
    stack->hash = hash_of(stack->pcs, stack->depth);
}
