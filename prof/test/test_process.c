/*
 * test_process.c -- what the port asks of the system (prof/process.h,
 * prof/port.h): mappings, clocks, timers, SIGPROF, barriers; and what it says
 * if the kernel refuses.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/test/aligned_block.h"
#include "common/test/in_child.h"
#include "prof/cpu.h"
#include "prof/port.h"
#include "prof/process.h"
#include "common/test/refused_syscall.h"
#include "common/test/unit_test.h"

static char text[1 << 18];
static struct prof_mapping mappings[512];

/* ---- mappings, clocks ---- */

TEST(the_mappings_of_this_process_hold_this_function)
{
    const uintptr_t here =
        (uintptr_t)&the_mappings_of_this_process_hold_this_function;
    const int input = dup(0);
    size_t holding = 0;
    size_t count;

    /* Descriptor 0 will do, if standard input is closed. */
    assert_int_equal(close(0), 0);
    assert_int_equal(
        prof_process_mappings(mappings, 512, &count, text, sizeof text),
        PROF_OK);
    assert_int_equal(dup2(input, 0), 0);
    assert_int_equal(close(input), 0);
    for (size_t i = 0; i < count; i++) {
        if (here < mappings[i].start || here >= mappings[i].limit)
            continue;
        holding++;
        assert_non_null(strstr(mappings[i].file, "test_prof"));
    }
    assert_int_equal(holding, 1);
    assert_int_equal(
        prof_process_mappings(mappings, 1, &count, text, sizeof text),
        PROF_ERR_SHORT);
    text[100] = '!';
    assert_int_equal(prof_process_mappings(mappings, 512, &count, text, 100),
                     PROF_ERR_SHORT);
    assert_int_equal(text[100], '!');
}

static long refused;

/* ---- timers ---- */

static void
open_no_timer(void)
{
    struct prof_timer timer;

    CHECK(refuse_syscall(refused, EAGAIN));
    CHECK(prof_timer_open(&timer, 100) == PROF_ERR_UNSUPPORTED);
}

/* Rates from 1 Hz, whose period is a whole second, to 1 MHz. */
TEST(a_timer_has_the_period_of_its_rate_or_is_refused)
{
    static const struct {
        uint32_t hz;
        long ns;
    } rows[] = {{1, 1000000000},
                {2, 500000000},
                {7, 142857142},
                {100, 10000000},
                {1000000, 1000}};
    struct prof_timer timer;
    struct itimerspec times;

    assert_int_equal(prof_timer_open(&timer, 0), PROF_ERR_CONFIG);
    assert_int_equal(prof_timer_open(&timer, 1000001), PROF_ERR_CONFIG);
    assert_true(signal(SIGPROF, SIG_IGN) != SIG_ERR);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(prof_timer_open(&timer, rows[i].hz), PROF_OK);
        assert_int_equal(timer_gettime(timer.id, &times), 0);
        assert_int_equal(times.it_interval.tv_sec * 1000000000 +
                             times.it_interval.tv_nsec,
                         rows[i].ns);
        prof_timer_close(&timer);
    }
    refused = SYS_timer_create;
    expect_in_child(open_no_timer);
    refused = SYS_timer_settime;
    expect_in_child(open_no_timer);
}

/* ---- SIGPROF ---- */

static size_t unwound;

static struct prof_cpu *
a_profile(void)
{
    static _Alignas(64) unsigned char block[1 << 18];
    const struct prof_cpu_config config = {
        .ticks_max = 64, .stacks_max = 8, .depth_max = 8};
    struct prof_cpu *cpu;

    unwound = 0;
    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    return cpu;
}

static uint32_t
unwind_two(const void *context, uintptr_t *stack, uint32_t max)
{
    assert_non_null(context);
    assert_true(max >= 2);
    unwound++;
    stack[0] = 0x11;
    stack[1] = 0x21;
    errno++; /* the handler must restore errno */
    return 2;
}

TEST(own_unwinding_is_used_and_errno_is_kept)
{
    struct prof_cpu *cpu = a_profile();

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

#if defined(__x86_64__)

static uintptr_t ticked;

static enum prof_status
note_address(void *context, const void *bytes, size_t bytes_count)
{
    const char *const line = strstr(bytes, "1 @ 0x");

    (void)context;
    (void)bytes_count;
    ticked = line != NULL ? strtoull(line + 4, NULL, 16) : 0;
    return PROF_OK;
}

/* The stack has the interrupted address plus 1, as the callers' frames are
 * return addresses, which lie behind the call. */
TEST(a_tick_is_at_the_instruction_that_was_interrupted)
{
    static _Alignas(64) unsigned char scratch[1 << 16];
    const struct prof_output output = {.sink = {.write = note_address},
                                       .scratch = scratch,
                                       .scratch_bytes = sizeof scratch};
    struct prof_cpu *cpu = a_profile();
    long number = SYS_tgkill;
    uintptr_t here;

    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    __asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
                     : "+a"(number), "=&r"(here)
                     : "D"((long)getpid()), "S"((long)gettid()),
                       "d"((long)SIGPROF)
                     : "rcx", "r11", "memory");
    prof_process_end();
    assert_int_equal(number, 0);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_write_text(cpu, &output), PROF_OK);
    assert_int_equal(ticked, here + 1);
}

#endif

static int theirs;

static void
on_theirs(int number)
{
    theirs += number == SIGPROF;
}

static void
on_theirs_with_info(int number, siginfo_t *info, void *context)
{
    theirs += info != NULL && context != NULL ? 10 * (number == SIGPROF) : 0;
}

/* But not the default action: it would end the process if a signal came late.
 */
TEST(a_handler_that_was_there_before_is_put_back)
{
    const struct sigaction actions[] = {
        {.sa_handler = on_theirs},
        {.sa_sigaction = on_theirs_with_info, .sa_flags = SA_SIGINFO},
        {.sa_handler = SIG_DFL},
        {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART}};
    struct prof_cpu *cpu = a_profile();
    struct sigaction now;

    theirs = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sigaction(SIGPROF, &actions[i], NULL), 0);
        prof_process_end(); /* nothing has begun: nothing ends */
        assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
        assert_int_equal(sigaction(SIGPROF, NULL, &now), 0);
        raise(SIGPROF);
        assert_int_equal(theirs, i < 2 ? i : 11);
        prof_process_end();
        /* A signal that is delivered after the profile ended is no tick. */
        now.sa_sigaction(SIGPROF, NULL, &now);
        raise(SIGPROF);
        assert_int_equal(theirs, i == 0 ? 1 : 11);
        assert_int_equal(sigaction(SIGPROF, NULL, &now), 0);
        assert_true(i < 2 || now.sa_handler == SIG_IGN);
    }
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 4);
    assert_true(signal(SIGPROF, SIG_DFL) != SIG_ERR);
}

/* The second call is not refused as one during a profile would be. */
static void
take_no_signal(void)
{
    CHECK(refuse_syscall(SYS_rt_sigaction, EINVAL));
    CHECK(prof_process_begin(NULL, NULL) == PROF_ERR_UNSUPPORTED);
    CHECK(prof_process_begin(NULL, NULL) == PROF_ERR_UNSUPPORTED);
}

TEST(a_signal_that_cannot_be_taken_is_reported_and_given_up)
{
    expect_in_child(take_no_signal);
}

/* ---- barriers ---- */

static int refused_with;

/* A running world needs the system's barrier, and is refused without it;
 * nothing is touched. */
static void
run_without_barriers(void)
{
    const struct prof_config config = {.buckets_max = 4,
                                       .world = PROF_WORLD_RUNNING};
    const size_t bytes = prof_bytes_needed(&config);
    unsigned char *const block = props_block(bytes, 0);
    struct prof *prof = NULL;

    CHECK(refuse_syscall(SYS_membarrier, refused_with));
    CHECK(prof_init(&prof, &config, block, bytes) == PROF_ERR_UNSUPPORTED);
    CHECK(prof == NULL);
    for (size_t i = 0; i < bytes; i++)
        CHECK(block[i] == 0);
    CHECK(!prof_port_barrier());
}

TEST(a_running_world_without_barriers_is_refused)
{
    static const int errors[] = {ENOSYS, EPERM};

    for (size_t i = 0; i < 2; i++) {
        refused_with = errors[i];
        expect_in_child(run_without_barriers);
    }
    assert_true(prof_port_barrier());
}
