/*
 * process.c -- mappings, time of day and CPU timers of a process, on Linux.
 *
 * SIGPROF has one handler for the whole process, so the profile that it feeds
 * is kept in global variables, the only mutable ones of the library.
 */
#include "prof/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, NS_PER_SECOND = 1000000000 };

/* ---- mappings ---- */

/* returns: bytes read; text_max if there are as many or more; -1: error */
static ssize_t
read_all(int descriptor, char *text, size_t text_max)
{
    size_t count = 0;

    while (count < text_max) {
        const ssize_t part = read(descriptor, &text[count], text_max - count);

        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        count += (size_t)part;
    }
    return (ssize_t)count;
}

enum prof_status
prof_process_mappings(struct prof_mapping *mappings, size_t mappings_max,
                      size_t *count, char *text, size_t text_max)
{
    /* Of a process whose first thread has ended, /proc/self has none. */
    const int descriptor = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t bytes;

    *count = 0;
    if (descriptor < 0)
        return PROF_ERR_UNSUPPORTED;
    bytes = read_all(descriptor, text, text_max);
    close(descriptor);
    if (bytes < 0)
        return PROF_ERR_UNSUPPORTED;
    if ((size_t)bytes == text_max)
        return PROF_ERR_SHORT;
    return prof_mappings_parse(mappings, mappings_max, count, text,
                               (size_t)bytes);
}

/* ---- time ---- */

static int64_t
read_clock(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

int64_t
prof_process_time_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t
prof_process_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* ---- SIGPROF ---- */

static atomic_bool claimed; /* from begin to end */
static _Atomic(struct prof_cpu *) target;
static _Atomic(prof_unwind *) target_unwind;
static struct sigaction before;

/* The interrupted address plus 1, because readers subtract 1. */
static uint32_t
interrupted(const void *ucontext, uintptr_t *stack, uint32_t max)
{
    const ucontext_t *context = ucontext;

#if defined(__x86_64__)
    const uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    const uintptr_t pc = (uintptr_t)context->uc_mcontext.pc;
#else
    const uintptr_t pc = 0;

    (void)context;
#endif
    (void)max; /* at least 1 */
    if (pc == 0)
        return 0;
    stack[0] = pc + 1;
    return 1;
}

/* The kernel looks at timers a few hundred times a second; a timer that has
 * expired more than once since then says so. */
static uint32_t
expirations(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_overrun > 0
               ? 1 + (uint32_t)info->si_overrun
               : 1;
}

static void
on_sigprof(int number, siginfo_t *info, void *ucontext)
{
    const int saved = errno;
    struct prof_cpu *cpu = atomic_load_explicit(&target, memory_order_acquire);
    prof_unwind *unwind =
        atomic_load_explicit(&target_unwind, memory_order_relaxed);
    uintptr_t stack[DEPTH_MAX];

    (void)number;
    if (cpu != NULL)
        prof_cpu_ticks(cpu, stack, unwind(ucontext, stack, DEPTH_MAX), NULL,
                       expirations(info));
    errno = saved;
}

enum prof_status
prof_process_begin(struct prof_cpu *cpu, prof_unwind *unwind)
{
    struct sigaction action = {.sa_sigaction = on_sigprof,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    /* Acquire: see what the previous prof_process_end() did. */
    if (atomic_exchange_explicit(&claimed, true, memory_order_acquire))
        return PROF_ERR_ACTIVE;
    atomic_store_explicit(&target_unwind, unwind != NULL ? unwind : interrupted,
                          memory_order_relaxed);
    /* Release: set the unwinder before the profile. */
    atomic_store_explicit(&target, cpu, memory_order_release);
    if (sigaction(SIGPROF, &action, &before) == 0)
        return PROF_OK;
    atomic_store_explicit(&target, NULL, memory_order_release);
    atomic_store_explicit(&claimed, false, memory_order_release);
    return PROF_ERR_UNSUPPORTED;
}

/*
 * A signal may still be pending for some thread. It must find a handler that
 * does nothing, because the default action would end the process.
 */
void
prof_process_end(void)
{
    struct sigaction quiet;

    if (!atomic_load_explicit(&claimed, memory_order_acquire))
        return;
    quiet = before;
    atomic_store_explicit(&target, NULL, memory_order_release);
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL)
        quiet.sa_handler = SIG_IGN;
    (void)sigaction(SIGPROF, &quiet, NULL);
    atomic_store_explicit(&claimed, false, memory_order_release);
}

enum prof_status
prof_timer_open(struct prof_timer *timer, uint32_t hz)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGPROF};
    struct itimerspec times;

    if (hz < 1 || hz > 1000000)
        return PROF_ERR_CONFIG;
    /* glibc 2.36 does not name this member. */
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer->id) != 0)
        return PROF_ERR_UNSUPPORTED;
    times.it_interval.tv_sec = hz == 1 ? 1 : 0;
    times.it_interval.tv_nsec = hz == 1 ? 0 : (long)(NS_PER_SECOND / hz);
    times.it_value = times.it_interval;
    if (timer_settime(timer->id, 0, &times, NULL) == 0)
        return PROF_OK;
    timer_delete(timer->id);
    return PROF_ERR_UNSUPPORTED;
}

void
prof_timer_close(struct prof_timer *timer)
{
    timer_delete(timer->id);
}
