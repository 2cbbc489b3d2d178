/*
 * single_step.c -- sets and clears the processor's trap flag.
 *
 * By the ABI a function may use 128 bytes below its stack pointer (the red
 * zone), so the flags are pushed below these. The kernel clears the trap flag
 * while a handler runs. The return from the handler sets it again, unless the
 * handler has cleared it in the saved flags.
 */
#include "common/test/single_step.h"

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#if PROPS_STEPS

enum { TRAP_FLAG = 0x100 };

static void (*volatile striking)(void);
static volatile uint32_t strike_at;
static volatile uint32_t steps;

static void
on_step(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;

    (void)number;
    (void)info;
    steps++;
    if (striking == NULL || (strike_at != 0 && steps != strike_at))
        return;
    striking();
    if (strike_at != 0)
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

void
props_step_begin(void (*strike)(void), uint32_t at)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTRAP, &action, NULL);
    striking = strike;
    strike_at = at;
    steps = 0;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
                     "pushfq\n\t"
                     "orq $0x100, (%%rsp)\n\t"
                     "popfq\n\t"
                     "lea 128(%%rsp), %%rsp"
                     :
                     :
                     : "memory", "cc");
}

uint32_t
props_step_end(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
                     "pushfq\n\t"
                     "andq $~0x100, (%%rsp)\n\t"
                     "popfq\n\t"
                     "lea 128(%%rsp), %%rsp"
                     :
                     :
                     : "memory", "cc");
    return steps;
}

#else

void
props_step_begin(void (*strike)(void), uint32_t at)
{
    (void)strike;
    (void)at;
}

uint32_t
props_step_end(void)
{
    return 0;
}

#endif
