/*
 * test_process.c -- profiling a process when the system refuses something:
 * /proc, timers, signals. System calls are replaced at link time. If one of
 * them fails, the library must undo what it has begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <pthread.h>

#include "prof/cpu.h"
#include "prof/process.h"
#include "syscall_stubs.h"
#include "unit_test.h"

/* ---- mappings ---- */

static enum prof_status
map(char *text, size_t text_max, size_t *count)
{
    static struct prof_mapping mappings[256];

    return prof_process_mappings(mappings, 256, count, text, text_max);
}

TEST(the_mappings_of_this_process_hold_this_function)
{
    static char text[1 << 18];
    static struct prof_mapping mappings[512];
    const uintptr_t here =
        (uintptr_t)&the_mappings_of_this_process_hold_this_function;
    size_t count = 0;
    size_t holding = 0;

    assert_int_equal(
        prof_process_mappings(mappings, 512, &count, text, sizeof text),
        PROF_OK);
    for (size_t i = 0; i < count; i++) {
        if (here >= mappings[i].start && here < mappings[i].limit) {
            holding++;
            assert_non_null(strstr(mappings[i].file, "test_process"));
        }
    }
    assert_int_equal(holding, 1);
    assert_int_equal(
        prof_process_mappings(mappings, 1, &count, text, sizeof text),
        PROF_ERR_SHORT);
    assert_int_equal(prof_process_mappings(mappings, 512, &count, text, 100),
                     PROF_ERR_SHORT);
}

TEST_WITH(NULL, syscall_stubs_end, mappings_that_cannot_be_read_are_reported)
{
    static char text[1 << 16];
    size_t whole;
    size_t count = 7;

    assert_int_equal(map(text, sizeof text, &whole), PROF_OK);
    assert_true(whole > 0);
    syscall_stubs_set(CALL_OPEN, ENOENT, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(count, 0);
    syscall_stubs_set(CALL_READ, EIO, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(count, 0);
    /* An interrupted read is tried again. */
    syscall_stubs_set(CALL_READ, EINTR, 3);
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(syscall_stubs.refused_times, 0);
    assert_int_equal(count, whole);
    assert_int_equal(map(text, 64, &count), PROF_ERR_SHORT);
}

/* Mappings that are read in pieces, into memory of any content, are the same as
 * those read at once, and no descriptor stays open. */
TEST_WITH(NULL, syscall_stubs_end, mappings_are_read_to_their_end_in_any_pieces)
{
    static char text[1 << 16];
    const int before = dup(2);
    const int input = dup(0);
    size_t whole;
    size_t count;
    int after;

    assert_true(before >= 0 && close(before) == 0);
    assert_int_equal(map(text, sizeof text, &whole), PROF_OK);
    assert_int_equal(syscall_stubs.opened_flags, O_RDONLY | O_CLOEXEC);
    memset(text, 0xa5, sizeof text);
    syscall_stubs.read_max = 7;
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(count, whole);
    assert_int_not_equal(text[0], (char)0xa5);
    /* An error after some bytes were read makes the whole call fail. */
    syscall_stubs.reads = 0;
    syscall_stubs.reads_good = 3;
    syscall_stubs_set(CALL_READ, EIO, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(count, 0);
    /* No more is written than fits: the bytes behind stay as they were. */
    memset(text, 0xa5, sizeof text);
    syscall_stubs.read_max = 60;
    assert_int_equal(map(text, 100, &count), PROF_ERR_SHORT);
    assert_int_equal(text[100], (char)0xa5);
    /* A process may have closed its standard input: then descriptor 0 is
     * used. */
    assert_int_equal(close(0), 0);
    syscall_stubs.read_max = SIZE_MAX;
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(dup2(input, 0), 0);
    assert_int_equal(close(input), 0);
    after = dup(2);
    assert_int_equal(after, before);
    assert_int_equal(close(after), 0);
}

TEST_WITH(NULL, syscall_stubs_end,
          what_cannot_be_opened_is_not_read_and_what_breaks_off_is_refused)
{
    static char text[1 << 16];
    size_t count;

    syscall_stubs.reads = 0;
    syscall_stubs_set(CALL_OPEN, EACCES, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(syscall_stubs.reads, 0);
    /* An empty list of mappings is not an error. */
    syscall_stubs_set(CALL_READ, 0, 1);
    assert_int_equal(map(text, sizeof text, &count), PROF_OK);
    assert_int_equal(count, 0);
}

/* ---- Timers ---- */

TEST_WITH(NULL, syscall_stubs_end, a_timer_that_cannot_be_made_leaves_nothing)
{
    struct prof_timer timer;

    assert_int_equal(prof_timer_open(&timer, 0), PROF_ERR_CONFIG);
    assert_int_equal(prof_timer_open(&timer, 1000001), PROF_ERR_CONFIG);
    syscall_stubs_set(CALL_TIMER_CREATE, EAGAIN, 1);
    assert_int_equal(prof_timer_open(&timer, 100), PROF_ERR_UNSUPPORTED);
    assert_int_equal(syscall_stubs.timers, 0);
    syscall_stubs_set(CALL_TIMER_SETTIME, EINVAL, 1);
    assert_int_equal(prof_timer_open(&timer, 100), PROF_ERR_UNSUPPORTED);
    assert_int_equal(syscall_stubs.timers, 0);
}

static size_t unwound;

/* Rates from 1 Hz, whose period is a whole second, to 1 MHz. */
static void *
tick_in_this_thread(void *context)
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

    assert_true(signal(SIGPROF, SIG_IGN) != SIG_ERR);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct prof_timer timer;

        assert_int_equal(prof_timer_open(&timer, cases[i].hz), PROF_OK);
        assert_int_equal(syscall_stubs.timers, 1);
        /* The timer sends SIGPROF to this thread, from now on. */
        assert_int_equal(syscall_stubs.last_timer_flags, 0);
        assert_int_equal(syscall_stubs.last_event.sigev_notify,
                         SIGEV_THREAD_ID);
        assert_int_equal(syscall_stubs.last_event.sigev_signo, SIGPROF);
        assert_int_equal(syscall_stubs.last_event._sigev_un._tid, gettid());
        assert_null(syscall_stubs.last_event.sigev_value.sival_ptr);
        prof_timer_close(&timer);
        assert_int_equal(syscall_stubs.timers, 0);
        assert_int_equal(syscall_stubs.last_times.it_interval.tv_sec,
                         cases[i].seconds);
        assert_int_equal(syscall_stubs.last_times.it_interval.tv_nsec,
                         cases[i].ns);
        assert_int_equal(syscall_stubs.last_times.it_value.tv_sec,
                         cases[i].seconds);
        assert_int_equal(syscall_stubs.last_times.it_value.tv_nsec,
                         cases[i].ns);
    }
    return context;
}

TEST_WITH(NULL, syscall_stubs_end, a_timer_ticks_as_often_as_it_is_told)
{
    (void)tick_in_this_thread(NULL);
}

TEST_WITH(NULL, syscall_stubs_end, a_timer_ticks_in_the_thread_that_opened_it)
{
    pthread_t thread;
    void *done = NULL;

    assert_int_equal(
        pthread_create(&thread, NULL, tick_in_this_thread, &unwound), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_ptr_equal(done, &unwound);
}

/* ---- signals ---- */

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

static uint32_t
unwind_two(const void *context, uintptr_t *stack, uint32_t max)
{
    const int saved = errno;

    assert_non_null(context);
    assert_true(max >= 2);
    unwound++;
    stack[0] = 0x11;
    stack[1] = 0x21;
    errno = saved + 1; /* the handler must restore errno */
    return 2;
}

TEST_WITH(NULL, syscall_stubs_end, own_unwinding_is_used_and_errno_is_kept)
{
    struct prof_cpu *cpu = a_profile();

    unwound = 0;
    assert_int_equal(prof_process_begin(cpu, unwind_two), PROF_OK);
    errno = 33;
    raise(SIGPROF);
    assert_int_equal(errno, 33);
    assert_int_equal(unwound, 1);
    /* Who is refused changes neither the profile nor its unwinding. */
    assert_int_equal(prof_process_begin(NULL, NULL), PROF_ERR_ACTIVE);
    raise(SIGPROF);
    assert_int_equal(unwound, 2);
    prof_process_end();
    raise(SIGPROF); /* the signal is ignored now */
    assert_int_equal(unwound, 2);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 2);
}

static struct prof_cpu *of_another;
static enum prof_status told_another;

static void
begin_another(void)
{
    told_another = prof_process_begin(of_another, NULL);
}

/* Otherwise the old handler, put back late, would replace that of the new
 * profile. */
TEST_WITH(NULL, syscall_stubs_end,
          who_ends_keeps_others_out_until_the_old_handler_is_back)
{
    struct prof_cpu *cpu = a_profile();

    of_another = cpu;
    told_another = PROF_OK;
    assert_int_equal(prof_process_begin(cpu, unwind_two), PROF_OK);
    syscall_stubs.meanwhile = begin_another;
    prof_process_end();
    assert_int_equal(told_another, PROF_ERR_ACTIVE);
    begin_another();
    assert_int_equal(told_another, PROF_OK);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

/* The flag SA_RESTORER, which the C library adds for the return from a
 * handler. */
enum { SA_WAY_BACK = 0x04000000 };

/* The stack has the interrupted address plus 1, as the callers' frames are
 * return addresses, which lie behind the call. */
TEST_WITH(NULL, syscall_stubs_end,
          the_interrupted_address_is_the_stack_and_0_is_none)
{
    struct prof_cpu *cpu = a_profile();
    static ucontext_t context;
    struct sigaction action;

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
    assert_int_equal(syscall_stubs.ticked_depth, 1);
    assert_int_equal(syscall_stubs.ticked[0], 0x1235);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RIP] = 1;
#elif defined(__aarch64__)
    context.uc_mcontext.pc = 1;
#endif
    action.sa_sigaction(SIGPROF, NULL, &context);
    assert_int_equal(syscall_stubs.ticked_depth, 1);
    assert_int_equal(syscall_stubs.ticked[0], 2);
    memset(&context, 0, sizeof context);
    action.sa_sigaction(SIGPROF, NULL, &context);
    assert_int_equal(syscall_stubs.ticked_depth, 0);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

/* The default action would end the process if a signal came late, whatever
 * flags were set with it. */
TEST_WITH(NULL, syscall_stubs_end, the_default_action_is_not_put_back)
{
    static const int flags[] = {0, SA_NOCLDSTOP, SA_NOCLDWAIT, SA_RESTART};
    struct prof_cpu *cpu = a_profile();

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

/* A signal that is delivered after the profile ended is ignored. */
TEST_WITH(NULL, syscall_stubs_end, a_signal_that_comes_late_is_no_tick)
{
    struct prof_cpu *cpu = a_profile();
    struct sigaction action;

    unwound = 0;
    assert_int_equal(prof_process_begin(cpu, unwind_two), PROF_OK);
    assert_int_equal(sigaction(SIGPROF, NULL, &action), 0);
    prof_process_end();
    action.sa_sigaction(SIGPROF, NULL, &action);
    assert_int_equal(unwound, 0);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 0);
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

/* The former handler gets the signal again. */
TEST_WITH(NULL, syscall_stubs_end, a_handler_that_was_there_before_is_put_back)
{
    struct sigaction action = {.sa_handler = on_theirs};
    struct sigaction with_info = {.sa_sigaction = on_theirs_with_info,
                                  .sa_flags = SA_SIGINFO};
    struct prof_cpu *cpu = a_profile();

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

TEST_WITH(NULL, syscall_stubs_end,
          a_signal_that_cannot_be_taken_is_reported_and_given_up)
{
    struct prof_cpu *cpu = a_profile();

    syscall_stubs_set(CALL_SIGACTION, EINVAL, 1);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_ERR_UNSUPPORTED);
    /* No profile is active any more: the next one may begin. */
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
