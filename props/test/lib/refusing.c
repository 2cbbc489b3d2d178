/* refusing.c -- calls of the system, replaced at link time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "prof/cpu.h"
#include "refusing.h"

static enum call refused; /* which call fails ... */
static int refused_errno; /* ... and how; 0: it is let through */
struct refusing refusing = {.read_max = SIZE_MAX};

void
refusing_set(enum call call, int error, int times)
{
    refused = call;
    refused_errno = error;
    refusing.refused_times = times;
}

static bool
is_refused(enum call call)
{
    if (refused != call || refusing.refused_times == 0)
        return false;
    refusing.refused_times--;
    errno = refused_errno;
    return true;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_read(int descriptor, void *bytes, size_t count);
ssize_t __wrap_read(int descriptor, void *bytes, size_t count);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_timer_create(clockid_t clock, struct sigevent *event, timer_t *id);
int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *id);
int __real_timer_settime(timer_t id, int flags, const struct itimerspec *times,
                         struct itimerspec *old);
int __wrap_timer_settime(timer_t id, int flags, const struct itimerspec *times,
                         struct itimerspec *old);
int __real_timer_delete(timer_t id);
int __wrap_timer_delete(timer_t id);
int __real_sigaction(int number, const struct sigaction *action,
                     struct sigaction *old);
int __wrap_sigaction(int number, const struct sigaction *action,
                     struct sigaction *old);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int
__wrap_open(const char *path, int flags, ...)
{
    refusing.opened_flags = flags;
    return is_refused(CALL_OPEN) ? -1 : __real_open(path, flags, 0);
}

ssize_t
__wrap_read(int descriptor, void *bytes, size_t count)
{
    refusing.reads++;
    if (refusing.reads > refusing.reads_good && is_refused(CALL_READ))
        return refused_errno != 0 ? -1 : 0;
    return __real_read(descriptor, bytes,
                       count < refusing.read_max ? count : refusing.read_max);
}

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    refusing.asked_clock = clock;
    if (is_refused(CALL_CLOCK))
        return -1;
    if (refusing.set_time.tv_sec == 0)
        return __real_clock_gettime(clock, now);
    *now = refusing.set_time;
    return 0;
}

int
__wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *id)
{
    int answer;

    if (is_refused(CALL_TIMER_CREATE))
        return -1;
    answer = __real_timer_create(clock, event, id);
    /* A process may have refusing.timers of other kinds. */
    refusing.timers += answer == 0 && clock == CLOCK_THREAD_CPUTIME_ID;
    refusing.last_event = *event;
    return answer;
}

int
__wrap_timer_settime(timer_t id, int flags, const struct itimerspec *times,
                     struct itimerspec *old)
{
    refusing.last_times = *times;
    refusing.last_timer_flags = flags;
    return is_refused(CALL_TIMER_SETTIME)
               ? -1
               : __real_timer_settime(id, flags, times, old);
}

int
__wrap_timer_delete(timer_t id)
{
    refusing.timers--;
    return __real_timer_delete(id);
}

int
__wrap_sigaction(int number, const struct sigaction *action,
                 struct sigaction *old)
{
    return is_refused(CALL_SIGACTION) ? -1
                                      : __real_sigaction(number, action, old);
}

static bool
is_barrier_refused(void)
{
    const bool is = (refusing.refused_barriers & 1) != 0;

    refusing.refused_barriers >>= 1;
    if (is)
        errno = EPERM;
    return is || is_refused(CALL_SYSCALL);
}

/* What the core and its port call this way, and with how many words. */
long
__wrap_syscall(long number, ...)
{
    const int count = number == SYS_gettid ? 0 : number == SYS_futex ? 6 : 3;
    va_list words;
    long word[6] = {0};

    if (number == SYS_membarrier && is_barrier_refused())
        return -1;
    va_start(words, number);
    for (int i = 0; i < count; i++)
        word[i] = va_arg(words, long);
    va_end(words);
    if (number == SYS_membarrier) {
        refusing.barriers++;
        assert_int_equal((int)word[1], 0);
        assert_int_equal((int)word[2], 0);
    }
    if (refusing.wakes_by != NULL) {
        assert_true(refusing.futexes_count <
                    sizeof refusing.futexes / sizeof *refusing.futexes);
        refusing.futexes[refusing.futexes_count++] = (struct futex_call){
            number, (const uint32_t *)word[0], (int)word[1], (int)word[2]};
        assert_int_equal(word[3], 0); /* no time, */
        assert_int_equal(word[4], 0); /* no other word */
        assert_int_equal((int)word[5], 0);
        *refusing.wakes_by = 0;
        return 0;
    }
    return __real_syscall(number, word[0], word[1], word[2], word[3], word[4],
                          word[5]);
}

void __real_prof_cpu_tick(struct prof_cpu *cpu, const uintptr_t *stack,
                          uint32_t depth, const struct prof_label_set *labels);
void __wrap_prof_cpu_tick(struct prof_cpu *cpu, const uintptr_t *stack,
                          uint32_t depth, const struct prof_label_set *labels);

void
__wrap_prof_cpu_tick(struct prof_cpu *cpu, const uintptr_t *stack,
                     uint32_t depth, const struct prof_label_set *labels)
{
    refusing.ticked_depth = depth;
    for (uint32_t i = 0; i < depth && i < 2; i++)
        refusing.ticked[i] = stack[i];
    __real_prof_cpu_tick(cpu, stack, depth, labels);
}

int
refusing_end(void **state)
{
    (void)state;
    refusing_set(NO_CALL, 0, 0);
    refusing.read_max = SIZE_MAX;
    refusing.reads_good = 0;
    refusing.set_time = (struct timespec){.tv_sec = 0};
    refusing.wakes_by = NULL;
    refusing.futexes_count = 0;
    refusing.refused_barriers = 0;
    return refusing.timers;
}
