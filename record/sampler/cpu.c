/*
 * cpu.c -- the CPU profile: ticks of ITIMER_PROF, in a handler of SIGPROF.
 */
#include <errno.h>
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

static int64_t step_ns;
static _Atomic int64_t counted_ns; /* of CPU time, as ticks */

static int64_t
cpu_ns(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (int64_t)now.tv_sec * 1000000000 + now.tv_nsec
               : 0;
}

/*
 * The kernel looks at the timer some 250 times a second, and sends one signal
 * however often it has expired since.
 *
 * returns: ticks that are due, 1 or more. A process that has confined itself
 *          may no longer ask for its CPU time
 */
static uint32_t
due_ticks(void)
{
    int64_t seen = atomic_load(&counted_ns);
    int64_t due;

    if (profile_is_confined())
        return 1;
    due = (cpu_ns() - seen) / step_ns;
    if (due < 1)
        due = 1;
    /* If another thread's handler is faster, it counts what was due. */
    return atomic_compare_exchange_strong(&counted_ns, &seen,
                                          seen + due * step_ns)
               ? (uint32_t)due
               : 1;
}

static void
on_tick(int number, siginfo_t *info, void *ucontext)
{
    const int saved = errno;
    uintptr_t stack[PROFILE_DEPTH_MAX];

    (void)number;
    if (profile.cpu != NULL)
        prof_cpu_ticks(profile.cpu, stack,
                       unwind_interrupted(ucontext, stack, PROFILE_DEPTH_MAX),
                       NULL, info->si_code == SI_KERNEL ? due_ticks() : 1);
    errno = saved;
}

/* returns: false if the system refuses */
static bool
begin_ticks(uint32_t hz)
{
    const uint32_t step_us = 1000000 / hz;
    const struct timeval step = {.tv_sec = step_us / 1000000,
                                 .tv_usec = step_us % 1000000};
    const struct itimerval timer = {.it_interval = step, .it_value = step};
    struct sigaction action = {.sa_sigaction = on_tick,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    step_ns = (int64_t)step_us * 1000;
    atomic_store(&counted_ns, cpu_ns());
    return sigaction(SIGPROF, &action, NULL) == 0 &&
           setitimer(ITIMER_PROF, &timer, NULL) == 0;
}

void
profile_cpu_begin(void)
{
    const struct prof_cpu_config config = {.ticks_max = TICKS_MAX,
                                           .stacks_max = STACKS_MAX,
                                           .depth_max = PROFILE_DEPTH_MAX};
    const uint32_t hz = profile.config.cpu_hz;
    const size_t bytes = prof_cpu_bytes_needed(&config);
    struct prof_cpu *cpu;
    void *block;

    if (hz == 0 || (block = profile_map(bytes)) == NULL)
        return;
    if (prof_cpu_init(&cpu, &config, block, bytes) == PROF_OK &&
        prof_cpu_start(cpu, hz) == PROF_OK && begin_ticks(hz)) {
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
