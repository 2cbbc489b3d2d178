/*
 * stack_memory.h -- which parts of a stack can be read.
 *
 * A walk reads where unwind tables and frame pointers lead, and those may be
 * wrong. So each word is checked to lie on the stack that the walk is on. The
 * mapped part of a thread's own stack is determined once and remembered. On any
 * other stack (a coroutine's, a signal handler's) each page is checked when the
 * walk reaches it, by a system call that needs no descriptor.
 */
#ifndef RECORD_UNWIND_STACK_MEMORY_H
#define RECORD_UNWIND_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define EMBED_PAGE_BYTES 4096u /* or more: then some are asked twice */

/* Ask the kernel. returns: false also after embed_stack_memory_confine() */
bool embed_stack_memory_is_readable(uintptr_t page);

/* A range of readable addresses; empty if both are equal. */
struct embed_bounds {
    uintptr_t low;
    uintptr_t high; /* exclusive */
};

/* What a thread remembers of its own stack. All zero: nothing yet. */
struct embed_own_stack {
    struct embed_bounds bounds;
    uint32_t tries; /* failed attempts to find it */
};

/* A walk's view of the stack it is on. */
struct embed_stack_memory {
    struct embed_own_stack *own; /* of the calling thread */
    struct embed_bounds bounds;  /* known to be readable */
    uint32_t pages;              /* that the walk may still check */
};

/*
 * From now on no system call is made: one might end a program that has confined
 * itself. What is not known of a stack by then is not read, except the rest of
 * the main thread's. in: is_confined, false if the program could not do it
 */
void embed_stack_memory_confine(bool is_confined);

/*
 * Begin a walk, or continue it on another stack.
 *
 * out:     memory->bounds, around sp; empty if sp cannot be read
 * context: any thread, signal handlers included; errno is left alone
 */
void embed_stack_memory_begin(struct embed_stack_memory *memory, uintptr_t sp);

/*
 * Read a word. Grows the bounds upwards, page by page, on a stack that is not
 * the thread's own.
 *
 * out:     *value
 * returns: false if it lies outside, or is not aligned
 * context: as embed_stack_memory_begin()
 */
bool embed_stack_memory_grow(struct embed_stack_memory *memory,
                             uintptr_t address);

static inline bool
embed_stack_memory_read(struct embed_stack_memory *memory, uintptr_t address,
                        uintptr_t *value)
{
    if (address % sizeof *value != 0 || address < memory->bounds.low)
        return false;
    if (address >= memory->bounds.high &&
        !embed_stack_memory_grow(memory, address))
        return false;
    *value = *(const uintptr_t *)address;
    return true;
}

#endif
