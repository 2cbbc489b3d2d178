/*
 * fiber.h -- stacks that take turns on one OS thread.
 *
 * A switch costs a few nanoseconds, because it saves neither the signal mask
 * nor the floating-point control state. Explored code must not change these.
 */
#ifndef EXPLORE_ENGINE_FIBER_H
#define EXPLORE_ENGINE_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_FIBER_ASAN 1
#endif
#endif

#if defined(__x86_64__) && !defined(SIM_FIBER_ASAN)
#define SIM_FIBER_FAST 1
#else
#include <ucontext.h>
#endif

enum { SIM_FIBER_STACK_BYTES = 256 * 1024 };

struct sim_fiber {
    void *stack_pointer; /* while not running */
    uint8_t *stack;      /* lowest byte; NULL for the main fiber */
    uintptr_t tls;       /* its thread pointer; 0: that of the process */
#ifndef SIM_FIBER_FAST
    ucontext_t context;
#endif
};

/* Give the fiber a stack, which is kept until the process ends. */
void sim_fiber_init(struct sim_fiber *fiber);

/* Make the whole stack 0, and give its memory back. Only before
 * sim_fiber_prepare(). */
void sim_fiber_forget(struct sim_fiber *fiber);

/* Make the highest `bytes` of the stack 0. Only before sim_fiber_prepare(). */
void sim_fiber_clear(struct sim_fiber *fiber, uint32_t bytes);

/* Make the next switch to `fiber` call entry(), which must not return. */
void sim_fiber_prepare(struct sim_fiber *fiber, void (*entry)(void));

#ifdef SIM_FIBER_FAST
/* May this process write fs by an instruction (FSGSBASE)? A system call, which
 * does the same, takes some 100 ns. */
extern bool sim_fiber_writes_fs;
#endif

/* Use the fiber's thread-local variables. */
void sim_fiber_use_tls(const struct sim_fiber *fiber);

/* Leave `from`, continue with `to`; returns when something switches back. */
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to);

static inline bool
sim_fiber_owns(const struct sim_fiber *fiber, uintptr_t address)
{
    return address - (uintptr_t)fiber->stack < SIM_FIBER_STACK_BYTES;
}

#endif
