/*
 * process.c -- kernel: SIGPROF arrives while the CPU profile begins and ends.
 *
 * The source of the port is included whole. No real signal is sent: another
 * thread calls the handler.
 */
#include <signal.h>
#include <stddef.h>

#define sigaction(number, new, old) handler_set(new, old)

struct sigaction;
static inline int handler_set(const struct sigaction *new,
                              struct sigaction *old);

#include "prof/port/process.c"

#include <stdalign.h>

#include "explore/engine/explore.h"
#include "props/kernels/kernels.h"

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 12];
static struct prof_cpu *cpu;
static bool ticked;

static inline int
handler_set(const struct sigaction *new, struct sigaction *old)
{
    (void)new;
    if (old != NULL)
        memset(old, 0, sizeof *old);
    return 0;
}

static uint32_t
unwind_before(const void *ucontext, uintptr_t *stack, uint32_t max)
{
    (void)ucontext;
    (void)stack;
    (void)max;
    sim_explore_fail("a tick is unwound as the profile before it asked for");
    return 0;
}

static uint32_t
unwind_now(const void *ucontext, uintptr_t *stack, uint32_t max)
{
    (void)ucontext;
    (void)max;
    stack[0] = 0x1000;
    ticked = true;
    return 1;
}

/* Begin and end one profile. */
static void
one_before(void *context)
{
    const struct prof_cpu_config config = {
        .ticks_max = 2, .stacks_max = 4, .depth_max = 1};

    (void)context;
    prof_process_end(); /* left over from a run that was cut short */
    ticked = false;
    memset(block, 0, sizeof block);
    if (prof_cpu_init(&cpu, &config, block, sizeof block) != PROF_OK ||
        prof_cpu_start(cpu, PROF_CPU_HZ) != PROF_OK ||
        prof_process_begin(cpu, unwind_before) != PROF_OK)
        sim_explore_fail("the profile does not start");
    prof_process_end();
}

static void
begin_another(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(prof_process_begin(cpu, unwind_now) == PROF_OK,
                      "the profile before has ended");
}

static void
strike(void *context, uint32_t thread)
{
    siginfo_t info = {.si_code = SI_KERNEL};

    (void)context;
    (void)thread;
    on_sigprof(SIGPROF, &info, NULL);
}

static void
ticks_are_counted(void *context)
{
    (void)context;
    prof_process_end();
    sim_explore_check(prof_cpu_stop(cpu) == PROF_OK, "no handler is inside");
    sim_explore_check(prof_cpu_totals(cpu).recorded == (ticked ? 1 : 0),
                      "a tick that was unwound is not counted");
}

const struct sim_kernel props_kernel_process_signal = {
    .name = "process-signal",
    .about = "a signal while a profile begins is unwound by the function that "
             "this profile was given",
    .setup = one_before,
    .finish = ticks_are_counted,
    .threads = {{"control", begin_another, NULL}, {"program", strike, NULL}},
    .threads_count = 2,
};
