/*
 * test_process.c -- the process around a profile when the system refuses: no
 * /proc, no timers, no signals, no clock, no barrier. The calls are replaced at
 * link time, one is made to fail, and what was begun must be undone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "prof/cpu.h"
#include "prof/port.h"
#include "prof/process.h"
#include "prof/prof.h"

/* ------------------------------------------------------- the system, refusing
 */

enum call {
    NO_CALL,
    CALL_OPEN,
    CALL_READ,
    CALL_CLOCK,
    CALL_TIMER_CREATE,
    CALL_TIMER_SETTIME,
    CALL_SIGACTION,
    CALL_SYSCALL
};

static enum call refused; /* which call fails ... */
static int refused_errno; /* ... and how; 0: it is let through */
static int refused_times; /* ... and how often */
static int timers;        /* created and not deleted */
static struct itimerspec last_times;
static struct sigevent last_event;
static int last_timer_flags;
static int opened_flags;
static size_t reads;
static size_t read_max = SIZE_MAX; /* bytes that one gives */
static struct timespec set_time;   /* what clocks say, if its seconds are not */
static clockid_t asked_clock;      /* 0 */

struct futex_call {
    long number;
    const uint32_t *word;
    int operation;
    int value;
};

static struct futex_call futexes[8];
static size_t futexes_count;
static uint32_t *wakes_by; /* a sleep on it ends at once, and it is 0 */
static size_t barriers;
static uintptr_t ticked[2];
static uint32_t ticked_depth;

static void
refuse(enum call call, int error, int times)
{
    refused = call;
    refused_errno = error;
    refused_times = times;
}

static bool
is_refused(enum call call)
{
    if (refused != call || refused_times == 0)
        return false;
    refused_times--;
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
    opened_flags = flags;
    return is_refused(CALL_OPEN) ? -1 : __real_open(path, flags, 0);
}

ssize_t
__wrap_read(int descriptor, void *bytes, size_t count)
{
    reads++;
    if (is_refused(CALL_READ))
        return refused_errno != 0 ? -1 : 0;
    return __real_read(descriptor, bytes, count < read_max ? count : read_max);
}

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    asked_clock = clock;
    if (is_refused(CALL_CLOCK))
        return -1;
    if (set_time.tv_sec == 0)
        return __real_clock_gettime(clock, now);
    *now = set_time;
    return 0;
}

int
__wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *id)
{
    int answer;

    if (is_refused(CALL_TIMER_CREATE))
        return -1;
    answer = __real_timer_create(clock, event, id);
    /* A process may have timers of other kinds. */
    timers += answer == 0 && clock == CLOCK_THREAD_CPUTIME_ID;
    last_event = *event;
    return answer;
}

int
__wrap_timer_settime(timer_t id, int flags, const struct itimerspec *times,
                     struct itimerspec *old)
{
    last_times = *times;
    last_timer_flags = flags;
    return is_refused(CALL_TIMER_SETTIME)
               ? -1
               : __real_timer_settime(id, flags, times, old);
}

int
__wrap_timer_delete(timer_t id)
{
    timers--;
    return __real_timer_delete(id);
}

int
__wrap_sigaction(int number, const struct sigaction *action,
                 struct sigaction *old)
{
    return is_refused(CALL_SIGACTION) ? -1
                                      : __real_sigaction(number, action, old);
}

/* What the core and its port call this way, and with how many words. */
long
__wrap_syscall(long number, ...)
{
    const int count = number == SYS_gettid ? 0 : number == SYS_futex ? 6 : 3;
    va_list words;
    long word[6] = {0};

    if (number == SYS_membarrier && is_refused(CALL_SYSCALL))
        return -1;
    va_start(words, number);
    for (int i = 0; i < count; i++)
        word[i] = va_arg(words, long);
    va_end(words);
    if (number == SYS_membarrier) {
        barriers++;
        assert_int_equal((int)word[1], 0);
        assert_int_equal((int)word[2], 0);
    }
    if (wakes_by != NULL) {
        assert_true(futexes_count < sizeof futexes / sizeof *futexes);
        futexes[futexes_count++] = (struct futex_call){
            number, (const uint32_t *)word[0], (int)word[1], (int)word[2]};
        assert_int_equal(word[3], 0); /* no time, */
        assert_int_equal(word[4], 0); /* no other word */
        assert_int_equal((int)word[5], 0);
        *wakes_by = 0;
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
    ticked_depth = depth;
    for (uint32_t i = 0; i < depth && i < 2; i++)
        ticked[i] = stack[i];
    __real_prof_cpu_tick(cpu, stack, depth, labels);
}

static int
nothing_refused(void **state)
{
    (void)state;
    refuse(NO_CALL, 0, 0);
    read_max = SIZE_MAX;
    set_time = (struct timespec){.tv_sec = 0};
    wakes_by = NULL;
    futexes_count = 0;
    return timers;
}

/* -------------------------------------------------------------------- mappings
 */

static enum prof_status
map(char *text, size_t text_max, size_t *count)
{
    static struct prof_mapping mappings[256];

    return prof_process_mappings(mappings, 256, count, text, text_max);
}

static void
mappings_that_cannot_be_read_are_reported(void **state)
{
    static char text[1 << 16];
    size_t whole;
    size_t count = 7;

    (void)state;
    assert_int_equal(map(text, sizeof text, &whole), PROF_OK);
    assert_true(whole > 0);
    refuse(CALL_OPEN, ENOENT, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(count, 0);
    refuse(CALL_READ, EIO, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(count, 0);
    /* An interrupted read is tried again. */
    refuse(CALL_READ, EINTR, 3);
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(refused_times, 0);
    assert_int_equal(count, whole);
    assert_int_equal(map(text, 64, &count), PROF_ERR_SHORT);
}

/* Read in pieces, into memory of any content: the same, and nothing stays open.
 */
static void
mappings_are_read_to_their_end_in_any_pieces(void **state)
{
    static char text[1 << 16];
    const int before = dup(2);
    const int input = dup(0);
    size_t whole;
    size_t count;
    int after;

    (void)state;
    assert_true(before >= 0 && close(before) == 0);
    assert_int_equal(map(text, sizeof text, &whole), PROF_OK);
    assert_int_equal(opened_flags, O_RDONLY | O_CLOEXEC);
    memset(text, 0xa5, sizeof text);
    read_max = 7;
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(count, whole);
    /* No more than there is room for: the rest stays as it was. */
    memset(text, 0xa5, sizeof text);
    read_max = 60;
    assert_int_equal(map(text, 100, &count), PROF_ERR_SHORT);
    assert_int_equal(text[100], (char)0xa5);
    /* A process may have closed its standard input. */
    assert_int_equal(close(0), 0);
    read_max = SIZE_MAX;
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(dup2(input, 0), 0);
    assert_int_equal(close(input), 0);
    after = dup(2);
    assert_int_equal(after, before);
    assert_int_equal(close(after), 0);
}

static void
what_cannot_be_opened_is_not_read_and_what_breaks_off_is_refused(void **state)
{
    static char text[1 << 16];
    size_t count;

    (void)state;
    reads = 0;
    refuse(CALL_OPEN, EACCES, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(reads, 0);
    /* No mappings at all are mappings, too. */
    refuse(CALL_READ, 0, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(count, 0);
}

/* ---------------------------------------------------------------------- clocks
 */

static void
seconds_and_nanoseconds_of_the_right_clock_make_one_number(void **state)
{
    (void)state;
    set_time = (struct timespec){.tv_sec = 3, .tv_nsec = 7};
    assert_int_equal(prof_process_time_ns(), INT64_C(3000000007));
    assert_int_equal(asked_clock, CLOCK_REALTIME);
    assert_int_equal(prof_process_monotonic_ns(), INT64_C(3000000007));
    assert_int_equal(asked_clock, CLOCK_MONOTONIC);
    asked_clock = -1;
    assert_int_equal(port_now_ns(), UINT64_C(3000000007));
    assert_int_equal(asked_clock, CLOCK_MONOTONIC);
}

/* ----------------------------------------------------------------------- sleep
 */

static void
assert_futex(size_t index, const uint32_t *word, int operation, int value)
{
    assert_true(index < futexes_count);
    assert_int_equal(futexes[index].number, SYS_futex);
    assert_ptr_equal(futexes[index].word, word);
    assert_int_equal(futexes[index].operation, operation);
    assert_int_equal(futexes[index].value, value);
}

/*
 * The word of a lock: 0 free, 1 taken, 2 taken and wanted. Who finds it taken
 * leaves a 2, sleeps while it is one, and looks again; here the holder lets go
 * as soon as somebody sleeps.
 */
static void
a_taken_lock_is_slept_on_and_a_wanted_one_wakes_one(void **state)
{
    struct port_lock lock = {0};
    uint32_t elsewhere = 0;

    (void)state;
    wakes_by = &elsewhere;
    port_lock_take(&lock);
    assert_int_equal(lock.word, 1);
    assert_false(port_lock_try(&lock));
    port_lock_release(&lock);
    assert_int_equal(lock.word, 0);
    assert_int_equal(futexes_count, 0); /* nobody wants it: no system call */
    assert_true(port_lock_try(&lock));
    wakes_by = &lock.word;
    port_lock_take(&lock);
    assert_int_equal(futexes_count, 1);
    assert_futex(0, &lock.word, FUTEX_WAIT_PRIVATE, 2);
    assert_int_equal(lock.word, 2); /* there may be others */
    port_lock_release(&lock);
    assert_int_equal(lock.word, 0);
    assert_int_equal(futexes_count, 2);
    assert_futex(1, &lock.word, FUTEX_WAKE_PRIVATE, 1);
}

static void
a_wait_sleeps_on_what_was_seen_and_is_woken_alone(void **state)
{
    uint32_t word = 77;

    (void)state;
    wakes_by = &word;
    port_wait(&word, 77);
    assert_int_equal(futexes_count, 1);
    assert_futex(0, &word, FUTEX_WAIT_PRIVATE, 77);
    port_wake(&word);
    assert_int_equal(futexes_count, 2);
    assert_futex(1, &word, FUTEX_WAKE_PRIVATE, 1);
}

static void
a_clock_is_read_and_one_that_fails_says_0(void **state)
{
    struct timespec now;
    int64_t ns;

    (void)state;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    assert_true(prof_process_time_ns() >= ns);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    assert_true(prof_process_monotonic_ns() >= ns);
    refuse(CALL_CLOCK, EINVAL, 2);
    assert_int_equal(prof_process_time_ns(), 0);
    assert_int_equal(prof_process_monotonic_ns(), 0);
}

/* ---------------------------------------------------------------------- timers
 */

static void
a_timer_that_cannot_be_made_leaves_nothing(void **state)
{
    struct prof_timer timer;

    (void)state;
    assert_int_equal(prof_timer_open(&timer, 0), PROF_ERR_CONFIG);
    assert_int_equal(prof_timer_open(&timer, 1000001), PROF_ERR_CONFIG);
    refuse(CALL_TIMER_CREATE, EAGAIN, 1);
    assert_int_equal(prof_timer_open(&timer, 100), PROF_ERR_UNSUPPORTED);
    assert_int_equal(timers, 0);
    refuse(CALL_TIMER_SETTIME, EINVAL, 1);
    assert_int_equal(prof_timer_open(&timer, 100), PROF_ERR_UNSUPPORTED);
    assert_int_equal(timers, 0);
}

/* From one tick a second, whose period is no fraction of one, to a million. */
static void
a_timer_ticks_as_often_as_it_is_told(void **state)
{
    static const struct {
        uint32_t hz;
        time_t seconds;
        long ns;
    } cases[] = {{1, 1, 0},
                 {2, 0, 500000000},
                 {7, 0, 142857142},
                 {100, 0, 10000000},
                 {1000000, 0, 1000}};

    (void)state;
    assert_true(signal(SIGPROF, SIG_IGN) != SIG_ERR);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct prof_timer timer;

        assert_int_equal(prof_timer_open(&timer, cases[i].hz), PROF_OK);
        assert_int_equal(timers, 1);
        /* This thread, by SIGPROF, from now on. */
        assert_int_equal(last_timer_flags, 0);
        assert_int_equal(last_event.sigev_notify, SIGEV_THREAD_ID);
        assert_int_equal(last_event.sigev_signo, SIGPROF);
        assert_int_equal(last_event._sigev_un._tid, gettid());
        assert_null(last_event.sigev_value.sival_ptr);
        prof_timer_close(&timer);
        assert_int_equal(timers, 0);
        assert_int_equal(last_times.it_interval.tv_sec, cases[i].seconds);
        assert_int_equal(last_times.it_interval.tv_nsec, cases[i].ns);
        assert_int_equal(last_times.it_value.tv_sec, cases[i].seconds);
        assert_int_equal(last_times.it_value.tv_nsec, cases[i].ns);
    }
}

/* --------------------------------------------------------------------- signals
 */

static struct prof_cpu *
a_profile(void)
{
    static _Alignas(64) unsigned char block[1 << 18];
    const struct prof_cpu_config config = {
        .ticks_max = 8, .stacks_max = 8, .depth_max = 8};
    struct prof_cpu *cpu;

    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    return cpu;
}

static size_t unwound;

static uint32_t
unwind_two(const void *context, uintptr_t *stack, uint32_t max)
{
    const int saved = errno;

    assert_non_null(context);
    assert_true(max >= 2);
    unwound++;
    stack[0] = 0x11;
    stack[1] = 0x21;
    errno = saved + 1; /* the handler must put it back */
    return 2;
}

static void
own_unwinding_is_used_and_errno_is_kept(void **state)
{
    struct prof_cpu *cpu = a_profile();

    (void)state;
    unwound = 0;
    assert_int_equal(prof_process_begin(cpu, unwind_two), PROF_OK);
    errno = 33;
    raise(SIGPROF);
    assert_int_equal(errno, 33);
    assert_int_equal(unwound, 1);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_ERR_ACTIVE);
    prof_process_end();
    raise(SIGPROF); /* ignored now */
    assert_int_equal(unwound, 1);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 1);
}

/* What kernel and C library add for themselves: the way back. */
enum { SA_WAY_BACK = 0x04000000 };

/* A call, not a jump: one more than where it was interrupted. */
static void
the_interrupted_address_is_the_stack_and_0_is_none(void **state)
{
    struct prof_cpu *cpu = a_profile();
    static ucontext_t context;
    struct sigaction action;

    (void)state;
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    assert_int_equal(sigaction(SIGPROF, NULL, &action), 0);
    assert_int_equal(action.sa_flags & ~SA_WAY_BACK, SA_SIGINFO | SA_RESTART);
    for (int i = 1; i <= SIGRTMAX; i++)
        assert_int_equal(sigismember(&action.sa_mask, i) == 1, 0);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RIP] = 0x1234;
#elif defined(__aarch64__)
    context.uc_mcontext.pc = 0x1234;
#else
    skip();
#endif
    action.sa_sigaction(SIGPROF, NULL, &context);
    assert_int_equal(ticked_depth, 1);
    assert_int_equal(ticked[0], 0x1235);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RIP] = 1;
#elif defined(__aarch64__)
    context.uc_mcontext.pc = 1;
#endif
    action.sa_sigaction(SIGPROF, NULL, &context);
    assert_int_equal(ticked_depth, 1);
    assert_int_equal(ticked[0], 2);
    memset(&context, 0, sizeof context);
    action.sa_sigaction(SIGPROF, NULL, &context);
    assert_int_equal(ticked_depth, 0);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

/* Whatever flags come with the default action: a late signal would end us. */
static void
the_default_action_is_not_put_back(void **state)
{
    static const int flags[] = {0, SA_NOCLDSTOP, SA_NOCLDWAIT, SA_RESTART};
    struct prof_cpu *cpu = a_profile();

    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const struct sigaction action = {.sa_handler = SIG_DFL,
                                         .sa_flags = flags[i]};
        struct sigaction now;

        assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
        assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
        prof_process_end();
        assert_int_equal(sigaction(SIGPROF, NULL, &now), 0);
        assert_true(now.sa_handler == SIG_IGN);
    }
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

static int theirs;

static void
on_theirs(int number)
{
    (void)number;
    theirs++;
}

static void
on_theirs_with_info(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    theirs += 10;
}

/* Whoever had the signal before has it again. */
static void
a_handler_that_was_there_before_is_put_back(void **state)
{
    struct sigaction action = {.sa_handler = on_theirs};
    struct sigaction with_info = {.sa_sigaction = on_theirs_with_info,
                                  .sa_flags = SA_SIGINFO};
    struct prof_cpu *cpu = a_profile();

    (void)state;
    theirs = 0;
    assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    raise(SIGPROF);
    assert_int_equal(theirs, 0);
    prof_process_end();
    raise(SIGPROF);
    assert_int_equal(theirs, 1);
    assert_int_equal(sigaction(SIGPROF, &with_info, NULL), 0);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    prof_process_end();
    raise(SIGPROF);
    assert_int_equal(theirs, 11);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 1);
    assert_true(signal(SIGPROF, SIG_DFL) != SIG_ERR);
}

static void
a_signal_that_cannot_be_taken_is_reported_and_given_up(void **state)
{
    struct prof_cpu *cpu = a_profile();

    (void)state;
    refuse(CALL_SIGACTION, EINVAL, 1);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_ERR_UNSUPPORTED);
    /* Not active: the next one may begin. */
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

/* -------------------------------------------------------------------- barriers
 */

/* A running world needs the system's barrier, and is refused without. */
static void
a_running_world_without_barriers_is_refused(void **state)
{
    const struct prof_config config = {.buckets_max = 4,
                                       .world = PROF_WORLD_RUNNING};
    const size_t bytes = prof_bytes_needed(&config);
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    struct prof *prof;

    (void)state;
    assert_non_null(block);
    memset(block, 0, bytes);
    /* The system does not know it; then it registers nobody. */
    refuse(CALL_SYSCALL, ENOSYS, 1);
    assert_int_equal(prof_init(&prof, &config, block, bytes),
                     PROF_ERR_UNSUPPORTED);
    refuse(CALL_SYSCALL, EPERM, 2);
    assert_int_equal(prof_init(&prof, &config, block, bytes),
                     PROF_ERR_UNSUPPORTED);
    refuse(NO_CALL, 0, 0);
    assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
    /* Registered: once more is fine, and asks the system once. */
    memset(block, 0, bytes);
    barriers = 0;
    assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
    assert_int_equal(barriers, 1);
    assert_true(port_barrier());
    assert_int_equal(barriers, 2);
    /* One that is refused for another reason is not tried again. */
    refuse(CALL_SYSCALL, ENOSYS, 1);
    assert_false(port_barrier());
    assert_int_equal(refused_times, 0);
    free(block);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(mappings_that_cannot_be_read_are_reported,
                                  nothing_refused),
        cmocka_unit_test_teardown(mappings_are_read_to_their_end_in_any_pieces,
                                  nothing_refused),
        cmocka_unit_test_teardown(
            what_cannot_be_opened_is_not_read_and_what_breaks_off_is_refused,
            nothing_refused),
        cmocka_unit_test_teardown(
            seconds_and_nanoseconds_of_the_right_clock_make_one_number,
            nothing_refused),
        cmocka_unit_test_teardown(
            a_taken_lock_is_slept_on_and_a_wanted_one_wakes_one,
            nothing_refused),
        cmocka_unit_test_teardown(
            a_wait_sleeps_on_what_was_seen_and_is_woken_alone, nothing_refused),
        cmocka_unit_test_teardown(
            the_interrupted_address_is_the_stack_and_0_is_none,
            nothing_refused),
        cmocka_unit_test_teardown(the_default_action_is_not_put_back,
                                  nothing_refused),
        cmocka_unit_test_teardown(a_clock_is_read_and_one_that_fails_says_0,
                                  nothing_refused),
        cmocka_unit_test_teardown(a_timer_that_cannot_be_made_leaves_nothing,
                                  nothing_refused),
        cmocka_unit_test_teardown(a_timer_ticks_as_often_as_it_is_told,
                                  nothing_refused),
        cmocka_unit_test_teardown(own_unwinding_is_used_and_errno_is_kept,
                                  nothing_refused),
        cmocka_unit_test_teardown(a_handler_that_was_there_before_is_put_back,
                                  nothing_refused),
        cmocka_unit_test_teardown(
            a_signal_that_cannot_be_taken_is_reported_and_given_up,
            nothing_refused),
        cmocka_unit_test_teardown(a_running_world_without_barriers_is_refused,
                                  nothing_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
