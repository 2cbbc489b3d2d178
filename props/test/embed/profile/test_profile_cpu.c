/*
 * test_profile_cpu.c -- the CPU profile of a program, with a stub of the
 * library: the timer, the handler, and which file is written when.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "prof/process.h"
#include "profile.h"
#include "unit_test.h"
#include "unwind.h"

static char seen[64]; /* m map, i init, s start, h handler, t timer, S stop,
                         w write */
static char fails_at;
static int busy_times, sleeps;
static int64_t clock_ns;
static enum prof_status write_status, stop_status;
static struct itimerval timer_set;
static struct timeval timer_now;
static void (*handler_now)(int);
static bool has_no_handler, has_no_timer;
static prof_unwind *unwind;
static struct prof_output written;
static int64_t written_ns;
static uint32_t hz_started;
static char the_cpu, the_block;

struct profile profile;

static bool
note(char what)
{
    const size_t at = strlen(seen);

    assert_true(at < sizeof seen - 1);
    seen[at] = what;
    return fails_at != what;
}

int64_t
prof_process_monotonic_ns(void)
{
    return clock_ns;
}

size_t
prof_cpu_bytes_needed(const struct prof_cpu_config *config)
{
    assert_int_equal(config->ticks_max, 4096);
    assert_int_equal(config->stacks_max, 8192);
    assert_int_equal(config->depth_max, PROFILE_DEPTH_MAX);
    return 777;
}

void *
profile_map(size_t bytes)
{
    assert_int_equal(bytes, 777);
    return note('m') ? &the_block : NULL;
}

enum prof_status
prof_cpu_init(struct prof_cpu **cpu, const struct prof_cpu_config *config,
              void *block, size_t block_bytes)
{
    assert_int_equal(config->stacks_max, 8192);
    assert_ptr_equal(block, &the_block);
    assert_int_equal(block_bytes, 777);
    *cpu = (struct prof_cpu *)(void *)&the_cpu;
    return note('i') ? PROF_OK : PROF_ERR_CONFIG;
}

enum prof_status
prof_cpu_start(struct prof_cpu *cpu, uint32_t hz)
{
    assert_ptr_equal(cpu, &the_cpu);
    hz_started = hz;
    return note('s') ? PROF_OK : PROF_ERR_CONFIG;
}

enum prof_status
prof_process_begin(struct prof_cpu *cpu, prof_unwind *walk)
{
    assert_ptr_equal(cpu, &the_cpu);
    unwind = walk;
    return note('h') ? PROF_OK : PROF_ERR_ACTIVE;
}

enum prof_status
prof_cpu_stop(struct prof_cpu *cpu)
{
    assert_ptr_equal(cpu, &the_cpu);
    if (busy_times > 0 && busy_times-- > 0)
        return PROF_ERR_BUSY;
    (void)note('S');
    return stop_status;
}

enum prof_status
prof_cpu_write(struct prof_cpu *cpu, const struct prof_output *output,
               int64_t duration_ns)
{
    assert_ptr_equal(cpu, &the_cpu);
    written = *output;
    written_ns = duration_ns;
    (void)note('w');
    clock_ns += 3;
    return write_status;
}

/* ---- the system ---- */

int __wrap_setitimer(int which, const struct itimerval *value,
                     struct itimerval *old);
int
__wrap_setitimer(int which, const struct itimerval *value,
                 struct itimerval *old)
{
    assert_int_equal(which, ITIMER_PROF);
    assert_null(old);
    timer_set = *value;
    return note('t') ? 0 : -1;
}

int __wrap_getitimer(int which, struct itimerval *value);
int
__wrap_getitimer(int which, struct itimerval *value)
{
    assert_int_equal(which, ITIMER_PROF);
    value->it_interval = timer_now;
    value->it_value = (struct timeval){.tv_usec = 17};
    return has_no_timer ? -1 : 0;
}

int __wrap_sigaction(int number, const struct sigaction *action,
                     struct sigaction *old);
int
__wrap_sigaction(int number, const struct sigaction *action,
                 struct sigaction *old)
{
    assert_int_equal(number, SIGPROF);
    assert_null(action);
    old->sa_handler = handler_now;
    return has_no_handler ? -1 : 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int
__wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    assert_int_equal(time->tv_sec, 0);
    assert_int_equal(time->tv_nsec, 1000000);
    sleeps++;
    return 0;
}

static struct embed_registers walked;
static bool walk_interrupted;
static const struct embed_own_stack *walk_own;

uint32_t
embed_unwind_walk(uintptr_t *pcs, uint32_t pcs_max,
                  const struct embed_registers *from, bool interrupted,
                  struct embed_own_stack *own)
{
    assert_int_equal(pcs_max, 40);
    walked = *from;
    walk_interrupted = interrupted;
    walk_own = own;
    pcs[0] = from->pc;
    pcs[1] = 1000;
    return 2;
}

/* ---- the tests ---- */

static void
some_handler(int number)
{
    (void)number;
}

static void
other_handler(int number)
{
    (void)number;
}

static int
set_out(void **state)
{
    (void)state;
    memset(&profile, 0, sizeof profile);
    memset(seen, 0, sizeof seen);
    fails_at = '\0';
    busy_times = sleeps = 0;
    write_status = stop_status = PROF_OK;
    clock_ns = 5000;
    handler_now = some_handler;
    timer_now = (struct timeval){.tv_sec = 1, .tv_usec = 4000};
    has_no_handler = has_no_timer = false;
    profile.config.cpu_hz = 100;
    return 0;
}

TEST_WITH(set_out, NULL, a_profile_is_begun_if_it_is_wanted)
{
    static const char steps[] = "misht";

    profile.config.cpu_hz = 0;
    profile_cpu_begin();
    assert_string_equal(seen, "");
    assert_null(profile.cpu);
    set_out(state);
    profile_cpu_begin();
    assert_string_equal(seen, "misht");
    assert_ptr_equal(profile.cpu, &the_cpu);
    assert_int_equal(hz_started, 100);
    for (size_t i = 0; steps[i] != '\0'; i++) {
        set_out(state);
        fails_at = steps[i];
        profile_cpu_begin();
        assert_null(profile.cpu);
        assert_int_equal(seen[strlen(seen) - 1], steps[i]);
    }
}

TEST_WITH(set_out, NULL, its_timer_is_the_rates)
{
    static const struct {
        uint32_t hz;
        long seconds, microseconds;
    } rows[] = {{1, 1, 0},      {2, 0, 500000}, {3, 0, 333333}, {100, 0, 10000},
                {99, 0, 10101}, {250000, 0, 4}, {1000000, 0, 1}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        profile.config.cpu_hz = rows[i].hz;
        profile_cpu_begin();
        assert_int_equal(timer_set.it_interval.tv_sec, rows[i].seconds);
        assert_int_equal(timer_set.it_interval.tv_usec, rows[i].microseconds);
        assert_int_equal(timer_set.it_value.tv_sec, rows[i].seconds);
        assert_int_equal(timer_set.it_value.tv_usec, rows[i].microseconds);
        assert_int_equal(hz_started, rows[i].hz);
    }
}

static bool
is_taken(void)
{
    atomic_store(&profile.losses.timer, 0);
    profile_cpu_look();
    return atomic_load(&profile.losses.timer) == 1;
}

/* A timer of ours has the interval to which the kernel rounded it; with any
 * other interval it is another's. */
TEST_WITH(set_out, NULL, a_timer_that_the_program_took_is_counted)
{
    (void)state;
    handler_now = other_handler;
    assert_false(is_taken()); /* there is no profile */
    handler_now = some_handler;
    profile_cpu_begin();
    assert_false(is_taken());
    handler_now = other_handler;
    assert_true(is_taken());
    has_no_handler = true;
    assert_false(is_taken());
    has_no_handler = false;
    has_no_timer = true;
    assert_false(is_taken());
    has_no_timer = false;
    handler_now = some_handler;
    assert_false(is_taken());
    timer_now.tv_usec++;
    assert_true(is_taken());
    timer_now.tv_usec--;
    timer_now.tv_sec--;
    assert_true(is_taken());
}

/* Each file's time begins where that of the file before it ended. */
TEST_WITH(set_out, NULL, what_is_written_began_with_the_one_before)
{
    static const int64_t times[] = {300, 301, INT64_C(1) << 32, 302};
    const struct prof_output output = {.time_ns = 1000000,
                                       .scratch_bytes = 1234};

    (void)state;
    profile_cpu_begin();
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const int64_t passed = times[i];

        memset(seen, 0, sizeof seen);
        clock_ns += passed;
        assert_int_equal(profile_cpu_write(&output), PROF_OK);
        assert_string_equal(seen, "Sws");
        assert_int_equal(hz_started, 100);
        assert_int_equal(written.time_ns, 1000000 - passed);
        assert_int_equal(written.scratch_bytes, 1234);
        assert_int_equal(written_ns, passed);
    }
}

TEST_WITH(set_out, NULL, what_cannot_be_written_goes_on)
{
    const struct prof_output output = {.time_ns = 1000000};

    (void)state;
    profile_cpu_begin();
    memset(seen, 0, sizeof seen);
    busy_times = 19;
    assert_int_equal(profile_cpu_write(&output), PROF_OK);
    assert_int_equal(sleeps, 19);
    busy_times = 20;
    memset(seen, 0, sizeof seen);
    assert_int_equal(profile_cpu_write(&output), PROF_ERR_BUSY);
    assert_int_equal(sleeps, 39);
    assert_string_equal(seen, "");
    stop_status = PROF_ERR_OFF;
    assert_int_equal(profile_cpu_write(&output), PROF_ERR_OFF);
    assert_string_equal(seen, "S");
    assert_int_equal(sleeps, 39);
    stop_status = PROF_OK;
    write_status = PROF_ERR_SINK;
    assert_int_equal(profile_cpu_write(&output), PROF_ERR_SINK);
    assert_string_equal(seen, "SSws");
    fails_at = 's';
    assert_int_equal(profile_cpu_write(&output), PROF_ERR_SINK);
    write_status = PROF_OK;
    assert_int_equal(profile_cpu_write(&output), PROF_ERR_BUSY);
}

static void *
tick_of_another(void *context)
{
    uintptr_t stack[40];

    (void)unwind(context, stack, 40);
    return NULL;
}

/* Readers take every address of a tick for a return address. */
TEST_WITH(set_out, NULL, a_tick_is_of_what_it_interrupted)
{
#ifdef __x86_64__
    static ucontext_t context;
    const struct embed_own_stack *own_before;
    uintptr_t stack[40];
    pthread_t other;

    (void)state;
    profile_cpu_begin();
    context.uc_mcontext.gregs[REG_RIP] = 100;
    context.uc_mcontext.gregs[REG_RSP] = 200;
    context.uc_mcontext.gregs[REG_RBP] = 300;
    context.uc_mcontext.gregs[REG_RBX] = 400;
    context.uc_mcontext.gregs[REG_R10] = 500;
    assert_int_equal(unwind(&context, stack, 40), 2);
    assert_int_equal(stack[0], 101);
    assert_int_equal(stack[1], 1000);
    assert_int_equal(walked.pc, 100);
    assert_int_equal(walked.sp, 200);
    assert_int_equal(walked.fp, 300);
    assert_int_equal(walked.base, 400);
    assert_int_equal(walked.scratch, 500);
    assert_true(walk_interrupted);
    assert_non_null(walk_own);
    own_before = walk_own;
    assert_int_equal(pthread_create(&other, NULL, tick_of_another, &context),
                     0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_ptr_not_equal(walk_own, own_before); /* each has its own stack */
#else
    skip();
#endif
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
