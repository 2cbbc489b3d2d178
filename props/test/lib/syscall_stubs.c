/* syscall_stubs.c -- see syscall_stubs.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "prof/cpu.h"
#include "syscall_stubs.h"
#include "unit_test.h"

static enum call refused; /* which call fails ... */
static int refused_errno; /* ... and how; 0: it is made */
struct syscall_stubs syscall_stubs = {.read_max = SIZE_MAX};

void
syscall_stubs_set(enum call call, int error, int times)
{
    refused = call;
    refused_errno = error;
    syscall_stubs.refused_times = times;
}

static bool
is_refused(enum call call)
{
    if (refused != call || syscall_stubs.refused_times == 0)
        return false;
    syscall_stubs.refused_times--;
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
    syscall_stubs.opened_flags = flags;
    return is_refused(CALL_OPEN) ? -1 : __real_open(path, flags, 0);
}

ssize_t
__wrap_read(int descriptor, void *bytes, size_t count)
{
    syscall_stubs.reads++;
    if (syscall_stubs.reads > syscall_stubs.reads_good && is_refused(CALL_READ))
        return refused_errno != 0 ? -1 : 0;
    return __real_read(descriptor, bytes,
                       count < syscall_stubs.read_max ? count
                                                      : syscall_stubs.read_max);
}

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    syscall_stubs.asked_clock = clock;
    if (is_refused(CALL_CLOCK))
        return -1;
    if (syscall_stubs.set_time.tv_sec == 0)
        return __real_clock_gettime(clock, now);
    *now = syscall_stubs.set_time;
    return 0;
}

int
__wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *id)
{
    int answer;

    if (is_refused(CALL_TIMER_CREATE))
        return -1;
    answer = __real_timer_create(clock, event, id);
    /* Only timers of the thread's CPU time are counted. */
    syscall_stubs.timers += answer == 0 && clock == CLOCK_THREAD_CPUTIME_ID;
    syscall_stubs.last_event = *event;
    return answer;
}

int
__wrap_timer_settime(timer_t id, int flags, const struct itimerspec *times,
                     struct itimerspec *old)
{
    syscall_stubs.last_times = *times;
    syscall_stubs.last_timer_flags = flags;
    return is_refused(CALL_TIMER_SETTIME)
               ? -1
               : __real_timer_settime(id, flags, times, old);
}

int
__wrap_timer_delete(timer_t id)
{
    syscall_stubs.timers--;
    return __real_timer_delete(id);
}

int
__wrap_sigaction(int number, const struct sigaction *action,
                 struct sigaction *old)
{
    void (*meanwhile)(void) = syscall_stubs.meanwhile;

    syscall_stubs.meanwhile = NULL;
    if (meanwhile != NULL)
        meanwhile();
    return is_refused(CALL_SIGACTION) ? -1
                                      : __real_sigaction(number, action, old);
}

static bool
is_barrier_refused(void)
{
    const bool is = (syscall_stubs.refused_barriers & 1) != 0;

    syscall_stubs.refused_barriers >>= 1;
    if (is)
        errno = EPERM;
    return is || is_refused(CALL_SYSCALL);
}

/* Calls that the core and its port make through syscall(), and with how many
 * words. */
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
        syscall_stubs.barriers++;
        assert_int_equal((int)word[1], 0);
        assert_int_equal((int)word[2], 0);
    }
    if (syscall_stubs.wakes_by != NULL) {
        assert_true(syscall_stubs.futexes_count <
                    sizeof syscall_stubs.futexes /
                        sizeof *syscall_stubs.futexes);
        syscall_stubs.futexes[syscall_stubs.futexes_count++] =
            (struct futex_call){number, (const uint32_t *)word[0], (int)word[1],
                                (int)word[2]};
        assert_int_equal(word[3], 0); /* no time limit, */
        assert_int_equal(word[4], 0); /* no other word */
        assert_int_equal((int)word[5], 0);
        *syscall_stubs.wakes_by = 0;
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
    syscall_stubs.ticked_depth = depth;
    for (uint32_t i = 0; i < depth && i < 2; i++)
        syscall_stubs.ticked[i] = stack[i];
    __real_prof_cpu_tick(cpu, stack, depth, labels);
}

int
syscall_stubs_end(void **state)
{
    (void)state;
    syscall_stubs_set(NO_CALL, 0, 0);
    syscall_stubs.read_max = SIZE_MAX;
    syscall_stubs.reads_good = 0;
    syscall_stubs.set_time = (struct timespec){.tv_sec = 0};
    syscall_stubs.wakes_by = NULL;
    syscall_stubs.futexes_count = 0;
    syscall_stubs.refused_barriers = 0;
    return syscall_stubs.timers;
}
