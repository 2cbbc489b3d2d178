/*
 * fiber.c -- the switch between fibers, in assembly on x86-64.
 *
 * In the System V ABI of x86-64 a function call preserves rbx, rbp, r12..r15
 * and the stack pointer, so a switch saves only these. The first frame of a
 * fiber:
 *
 *      stack_pointer -> r15 r14 r13 r12 rbx rbp entry 0     high addresses
 *
 * The zero takes the place of entry's return address: so rsp is 8 modulo 16 at
 * entry, as after a call, and backtraces end there.
 */
#include "explore/engine/fiber.h"

#include <string.h>
#include <sys/mman.h>

#include "explore/engine/need.h"

#ifdef SIM_FIBER_FAST
#include <asm/prctl.h>
#include <sys/syscall.h>
#endif

#ifdef SIM_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif

void
sim_fiber_init(struct sim_fiber *fiber)
{
    const size_t guard_bytes = 4096;
    uint8_t *memory;

    memory = sim_need(mmap(NULL, guard_bytes + SIM_FIBER_STACK_BYTES,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (mprotect(memory, guard_bytes, PROT_NONE) != 0)
        sim_need(NULL);
    fiber->stack = memory + guard_bytes;
}

/* A run that was cut leaves frames, and their red zones, behind. */
static void
unpoison(const struct sim_fiber *fiber)
{
#ifdef SIM_FIBER_ASAN
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack, SIM_FIBER_STACK_BYTES);
#else
    (void)fiber;
#endif
}

void
sim_fiber_forget(struct sim_fiber *fiber)
{
    unpoison(fiber);
    if (madvise(fiber->stack, SIM_FIBER_STACK_BYTES, MADV_DONTNEED) != 0)
        memset(fiber->stack, 0, SIM_FIBER_STACK_BYTES);
}

void
sim_fiber_clear(struct sim_fiber *fiber, uint32_t bytes)
{
    unpoison(fiber);
    memset(fiber->stack + SIM_FIBER_STACK_BYTES - bytes, 0, bytes);
}

#ifdef SIM_FIBER_FAST

void sim_fiber_swap(void **save, void *load);

__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_fiber_swap\n"
        ".type sim_fiber_swap, @function\n"
        "sim_fiber_swap:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size sim_fiber_swap, .-sim_fiber_swap\n");

bool sim_fiber_writes_fs;

/* The system call is made here: libc's may use fs. */
void
sim_fiber_use_tls(const struct sim_fiber *fiber)
{
    long call = SYS_arch_prctl;

    if (fiber->tls == 0)
        return;
    if (sim_fiber_writes_fs)
        __asm__ volatile("wrfsbase %0" : : "r"(fiber->tls) : "memory");
    else
        __asm__ volatile("syscall"
                         : "+a"(call)
                         : "D"(ARCH_SET_FS), "S"(fiber->tls)
                         : "rcx", "r11", "memory");
}

void
sim_fiber_prepare(struct sim_fiber *fiber, void (*entry)(void))
{
    uintptr_t *top =
        (uintptr_t *)(void *)(fiber->stack + SIM_FIBER_STACK_BYTES);

    top -= 8;
    memset(top, 0, 8 * sizeof *top);
    top[6] = (uintptr_t)entry;
    fiber->stack_pointer = top;
}

void
sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to)
{
    if (to->tls != from->tls)
        sim_fiber_use_tls(to);
    sim_fiber_swap(&from->stack_pointer, to->stack_pointer);
}

#else

void
sim_fiber_use_tls(const struct sim_fiber *fiber)
{
    (void)fiber;
}

void
sim_fiber_prepare(struct sim_fiber *fiber, void (*entry)(void))
{
#ifdef SIM_FIBER_ASAN
    /* A run that was cut leaves frames, and their red zones, behind. */
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack, SIM_FIBER_STACK_BYTES);
#endif
    getcontext(&fiber->context);
#ifdef __x86_64__
    for (int i = REG_R12; i <= REG_R15; i++)
        fiber->context.uc_mcontext.gregs[i] = 0; /* the caller's own */
    fiber->context.uc_mcontext.gregs[REG_RBP] = 0;
#endif
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = SIM_FIBER_STACK_BYTES;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, entry, 0);
}

void
sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
