/*
 * cpu.c -- the CPU profile: ticks of ITIMER_PROF, in a handler of SIGPROF.
 */
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "prof/process.h"
#include "record/sampler/profiler.h"
#include "record/unwind/unwind.h"

enum { TICKS_MAX = 4096, STACKS_MAX = 8192, TRIES_MAX = 20 };

static uint64_t began_at_ns; /* the current CPU profile */

static uint64_t
now_ns(void)
{
    return (uint64_t)prof_process_monotonic_ns();
}

/* ---- whose timer it is ---- */

static struct {
    void (*handler)(int, siginfo_t *, void *);
    struct timeval step; /* as the kernel rounded it */
} ours;

/* returns: false if the kernel does not say */
static bool
get_timer(void (**handler)(int, siginfo_t *, void *), struct timeval *step)
{
    struct sigaction action;
    struct itimerval timer;

    if (sigaction(SIGPROF, NULL, &action) != 0 ||
        getitimer(ITIMER_PROF, &timer) != 0)
        return false;
    *handler = action.sa_sigaction;
    *step = timer.it_interval;
    return true;
}

/* Has the program taken over SIGPROF or ITIMER_PROF, of which a process has
 * only one each? */
void
profile_cpu_look(void)
{
    void (*handler)(int, siginfo_t *, void *);
    struct timeval step;

    if (profile.cpu != NULL && get_timer(&handler, &step) &&
        (handler != ours.handler || timercmp(&step, &ours.step, !=)))
        atomic_store(&profile.losses.timer, 1);
}

/* ---- ticks ---- */

static _Thread_local struct embed_own_stack handler_stack
    __attribute__((tls_model("initial-exec")));

static uint32_t
unwind_interrupted(const void *ucontext, uintptr_t *stack, uint32_t max)
{
#ifdef __x86_64__
    const ucontext_t *const at = ucontext;
    const struct embed_registers from = {
        .pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP],
        .sp = (uintptr_t)at->uc_mcontext.gregs[REG_RSP],
        .fp = (uintptr_t)at->uc_mcontext.gregs[REG_RBP],
        .base = (uintptr_t)at->uc_mcontext.gregs[REG_RBX],
        .scratch = (uintptr_t)at->uc_mcontext.gregs[REG_R10]};
    const uint32_t depth =
        embed_unwind_walk(stack, max, &from, true, &handler_stack);

    stack[0]++; /* every address of a tick is read as a return address */
    return depth;
#else
    (void)ucontext;
    (void)stack;
    (void)max;
    return 0;
#endif
}

void
profile_cpu_begin(void)
{
    const struct prof_cpu_config config = {.ticks_max = TICKS_MAX,
                                           .stacks_max = STACKS_MAX,
                                           .depth_max = PROFILE_DEPTH_MAX};
    const uint32_t hz = profile.config.cpu_hz;
    const uint32_t step_us = hz != 0 ? 1000000 / hz : 0;
    const struct timeval step = {.tv_sec = step_us / 1000000,
                                 .tv_usec = step_us % 1000000};
    const struct itimerval timer = {.it_interval = step, .it_value = step};
    const size_t bytes = prof_cpu_bytes_needed(&config);
    struct prof_cpu *cpu;
    void *block;

    if (hz == 0 || (block = profile_map(bytes)) == NULL)
        return;
    if (prof_cpu_init(&cpu, &config, block, bytes) == PROF_OK &&
        prof_cpu_start(cpu, hz) == PROF_OK &&
        prof_process_begin(cpu, unwind_interrupted) == PROF_OK &&
        setitimer(ITIMER_PROF, &timer, NULL) == 0) {
        began_at_ns = now_ns();
        (void)get_timer(&ours.handler, &ours.step);
        profile.cpu = cpu;
    }
}

/* Stop the profile, write it, and begin the next one. */
enum prof_status
profile_cpu_write(const struct prof_output *output)
{
    const uint64_t began_ns = began_at_ns;
    struct prof_output from = *output;
    enum prof_status status = PROF_ERR_BUSY;

    for (int i = 0; i < TRIES_MAX && status == PROF_ERR_BUSY; i++) {
        const struct timespec pause = {.tv_nsec = 1000000};

        status = prof_cpu_stop(profile.cpu);
        if (status == PROF_ERR_BUSY)
            (void)nanosleep(&pause, NULL);
    }
    if (status != PROF_OK)
        return status;
    from.time_ns -= (int64_t)(now_ns() - began_ns);
    status = prof_cpu_write(profile.cpu, &from, (int64_t)(now_ns() - began_ns));
    began_at_ns = now_ns();
    if (prof_cpu_start(profile.cpu, profile.config.cpu_hz) != PROF_OK &&
        status == PROF_OK)
        status = PROF_ERR_BUSY;
    return status;
}
