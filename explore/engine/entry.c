/*
 * entry.c -- where explored code enters the explorer, before any register
 * changes.
 *
 * A wait loop is recognised by the state of the calling code (wait.c): its
 * stack and its callee-saved registers. The functions here record both, then
 * jump to the function of the same name in tsan.c, so the caller's return
 * address stays in place.
 */
#include "explore/engine/engine.h"
#include "explore/engine/tsan.h"

#ifdef __x86_64__

__asm__(".text\n"
        ".macro sim_note\n"
        "    mov %rbx, sim_caller(%rip)\n"
        "    mov %rbp, sim_caller+8(%rip)\n"
        "    mov %r12, sim_caller+16(%rip)\n"
        "    mov %r13, sim_caller+24(%rip)\n"
        "    mov %r14, sim_caller+32(%rip)\n"
        "    mov %r15, sim_caller+40(%rip)\n"
        "    mov %rsp, sim_caller+48(%rip)\n"
        ".endm\n");

#define ENTRY_TO(name, target)                       \
    __asm__(".p2align 4\n"                           \
            ".globl " name "\n"                      \
            ".type " name ", @function\n" name ":\n" \
            "    sim_note\n"                         \
            "    jmp " target "\n"                   \
            ".size " name ", .-" name "\n")

#else

/* The state is not known there, so no two rounds of a loop count as equal. */
#define ENTRY_TO(name, target) \
    __asm__(".globl " name "\n.set " name ", " target "\n")

#endif

#define ENTRY(bits, operation)                     \
    ENTRY_TO("__tsan_atomic" #bits "_" #operation, \
             "sim_tsan_atomic" #bits "_" #operation)
#define ENTRIES(bits)                     \
    ENTRY(bits, load);                    \
    ENTRY(bits, exchange);                \
    ENTRY(bits, fetch_add);               \
    ENTRY(bits, fetch_sub);               \
    ENTRY(bits, fetch_and);               \
    ENTRY(bits, fetch_or);                \
    ENTRY(bits, fetch_xor);               \
    ENTRY(bits, fetch_nand);              \
    ENTRY(bits, compare_exchange_strong); \
    ENTRY(bits, compare_exchange_weak);   \
    ENTRY(bits, compare_exchange_val)

ENTRIES(8);
ENTRIES(16);
ENTRIES(32);
ENTRIES(64);

void sim_wait_pause(void);

void
sim_wait_pause(void)
{
    struct engine *e = &sim_engine;

    if (e->active)
        sim_wait_round(e, (uintptr_t)__builtin_return_address(0));
}

ENTRY_TO("sim_explore_spin_wait", "sim_wait_pause");
