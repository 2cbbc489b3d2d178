/*
 * test_cpu_file.c -- a CPU profile that a thread drains and writes to a file
 * (P5): its contents, calls in the wrong order, files that cannot be written,
 * the program's own signals and timer, and children of the program.
 *
 * build: also=tsan
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/test/in_child.h"
#include "prof/test/pprof/pprof_case.h"
#include "prof/cpu_file.h"
#include "prof/gzip.h"
#include "common/test/refused_syscall.h"
#include "common/test/unit_test.h"

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#define HAS_TSAN __has_feature(thread_sanitizer)
#else
#define HAS_TSAN 0
#endif

enum { TRIES_MAX = 8000, CPU_BYTES = 1 << 20 };

#define CPU_FILE_TEST(name) TEST_WITH(begin, end, name)

static struct prof_cpu_file file;
static struct prof_cpu *cpu;
static char folder[32];
static char path[64]; /* of a file in the folder */
static struct case_run run;

static int
begin(void **state)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[CPU_BYTES];
    const struct prof_cpu_config config = {.ticks_max = 64, .stacks_max = 512};

    (void)state;
    strcpy(folder, "/tmp/profsim-cpu-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/cpu.pb", folder);
    memset(&file, 0, sizeof file);
    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    return 0;
}

/* returns: how many files are in the folder */
static int
files(void)
{
    DIR *listing = opendir(folder);
    int count = -2; /* . and .. */

    assert_non_null(listing);
    while (readdir(listing) != NULL)
        count++;
    closedir(listing);
    return count;
}

/* Nothing but the profile may be left. */
static int
end(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

/* Settings for a profile without names, not compressed, written to `path`. */
static struct prof_cpu_file_config
usual(void)
{
    case_begin(&run);
    run.output.symbols.find = NULL;
    return (struct prof_cpu_file_config){
        .cpu = cpu, .path = path, .output = run.output};
}

static enum prof_status
start(void)
{
    const struct prof_cpu_file_config config = usual();

    return prof_cpu_file_start(&file, &config);
}

/* Read the file; end with case_end(&run). returns: its ticks */
static uint64_t
ticks_written(void)
{
    FILE *from = fopen(path, "rb");
    uint64_t ticks = 0;

    assert_non_null(from);
    case_begin(&run);
    run.memory.bytes_count = fread(run.bytes, 1, sizeof run.bytes, from);
    fclose(from);
    case_read(&run, PROF_OK);
    for (size_t i = 0; i < run.profile.samples_count; i++) {
        const struct model_pprof_sample *sample = &run.profile.samples[i];

        ticks += (uint64_t)sample->values[0];
        assert_int_equal(sample->values[1],
                         sample->values[0] * run.profile.period);
    }
    return ticks;
}

/* ---- contents ---- */

CPU_FILE_TEST(a_busy_program_is_in_its_file)
{
    const int64_t since = prof_process_time_ns();
    const clock_t until = clock() + 3 * CLOCKS_PER_SEC / 10;
    struct prof_cpu_totals totals;
    static volatile uint64_t sum;
    uint64_t ticks;

    assert_int_equal(start(), PROF_OK);
    assert_int_equal(files(), 0); /* no file before it is complete */
    while (clock() < until)
        sum = sum * 3 + 1;
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
    assert_int_equal(files(), 1);
    totals = prof_cpu_totals(cpu);
    ticks = ticks_written();
    assert_int_equal(ticks, totals.recorded + totals.lost);
    assert_true(ticks > 0);
    assert_int_equal(run.profile.period, 1000000000 / PROF_CPU_HZ);
    assert_in_range(run.profile.time_ns, since, prof_process_time_ns());
    assert_in_range(run.profile.duration_ns, 1,
                    prof_process_time_ns() - since + 1000000000);
    case_end(&run);
}

static void
tick(uint64_t times)
{
    static const uintptr_t stack[] = {CASE_WORK, CASE_MAIN};

    while (times-- > 0)
        prof_cpu_tick(cpu, stack, 2, NULL);
}

/* Wait until the writer has drained all ticks so far. The call is for stopped
 * profiles, but it takes the lock. */
static void
await_drain(uint64_t ticks)
{
    for (int i = 0; i < TRIES_MAX && prof_cpu_totals(cpu).recorded < ticks; i++)
        usleep(1000);
    assert_int_equal(prof_cpu_totals(cpu).recorded, ticks);
}

/* More ticks are made by hand than the ring holds. */
CPU_FILE_TEST(ticks_are_drained_while_they_come)
{
    struct prof_cpu_file_config config = usual();
    enum { ROUNDS = 4, TICKS = 48 };

    config.threads_have_timers = true;
    assert_int_equal(prof_cpu_file_start(&file, &config), PROF_OK);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        tick(TICKS);
        await_drain(i * TICKS);
    }
    tick(TICKS);
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).lost, 0);
    assert_int_equal(ticks_written(), (ROUNDS + 1) * TICKS);
    assert_int_equal(run.profile.samples_count, 1);
    case_end(&run);
}

static uint32_t
unwind_work(const void *context, uintptr_t *stack, uint32_t max)
{
    (void)context;
    assert_true(max > 0);
    stack[0] = CASE_WORK;
    return 1;
}

/* Rates from 1 Hz on, own unwinding, compressed or not; each profile has the
 * settings and the ticks of its own start. */
CPU_FILE_TEST(a_profile_is_as_its_own_start_requested)
{
    static const uint32_t rates[] = {0, 1, 7, 100, 999};
    void *const packing = malloc(prof_gzip_bytes());
    char command[256];

    assert_non_null(packing);
    for (uint64_t i = 0; i < 10; i++) {
        struct prof_cpu_file_config config = usual();
        const uint32_t hz = rates[i % 5];

        config.hz = hz;
        config.threads_have_timers = i % 2 == 0;
        config.unwind = unwind_work;
        config.output.time_ns = 12345; /* the call sets it */
        config.packing = i >= 5 ? packing : NULL;
        config.packing_bytes = prof_gzip_bytes();
        assert_int_equal(prof_cpu_file_start(&file, &config), PROF_OK);
        for (uint64_t ticks = 0; ticks < i; ticks++)
            assert_int_equal(raise(SIGPROF), 0);
        assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
        if (i >= 5) { /* the name must end so */
            snprintf(command, sizeof command, "mv %s %s.gz && gzip -d %s.gz",
                     path, path, path);
            assert_int_equal(system(command), 0);
        }
        assert_in_range(ticks_written(), i, i % 2 == 0 ? i : i + 10);
        assert_int_equal(run.profile.period,
                         1000000000 / (hz != 0 ? hz : PROF_CPU_HZ));
        assert_int_not_equal(run.profile.time_ns, 12345);
        if (i > 0)
            assert_int_equal(run.profile.locations[0].address, CASE_WORK - 1);
        case_end(&run);
    }
    free(packing);
}

/* ---- starts and stops ---- */

CPU_FILE_TEST(starts_and_stops_out_of_order_change_nothing)
{
    struct prof_cpu_file other = {.is_running = false};
    struct prof_cpu_file_config config = usual();
    char elsewhere[64];
    struct itimerval left;

    snprintf(elsewhere, sizeof elsewhere, "%s/other", folder);
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
    assert_int_equal(files(), 0);
    config.hz = 1000001;
    assert_int_equal(prof_cpu_file_start(&file, &config), PROF_ERR_CONFIG);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(start(), PROF_OK);
        /* What is refused has other settings; those of the start hold. */
        config = usual();
        config.path = elsewhere;
        config.threads_have_timers = true;
        config.output.scratch_bytes = 64;
        assert_int_equal(prof_cpu_file_start(&file, &config), PROF_ERR_ACTIVE);
        assert_int_equal(prof_cpu_file_start(&other, &config), PROF_ERR_ACTIVE);
        assert_int_equal(prof_cpu_file_stop(&other), PROF_OK);
        assert_int_equal(files(), i > 0);
        assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
        assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
        assert_int_equal(files(), 1);
        assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
        assert_int_equal(left.it_value.tv_sec + left.it_value.tv_usec, 0);
    }
    /* Another profile has SIGPROF: the start fails, and leaves nothing
     * behind. */
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    assert_int_equal(start(), PROF_ERR_ACTIVE);
    prof_process_end();
    assert_int_equal(start(), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
}

CPU_FILE_TEST(files_that_cannot_be_written_are_known_early_or_at_the_stop)
{
    static char far[2 * PROF_PATH_MAX];
    struct prof_cpu_file_config config = usual();
    char name[PROF_PATH_MAX];

    config.path = "/no/such/folder/cpu.pb";
    assert_int_equal(prof_cpu_file_start(&file, &config), PROF_ERR_SINK);
    assert_string_equal(prof_cpu_file_reason(&file), strerror(ENOENT));
    memset(far, 'x', sizeof far - 1);
    config.path = far;
    assert_int_equal(prof_cpu_file_start(&file, &config), PROF_ERR_SINK);
    assert_string_equal(prof_cpu_file_reason(&file), strerror(ENAMETOOLONG));
    assert_int_equal(start(), PROF_OK);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(prof_cpu_file_stop(&file), PROF_ERR_SINK);
    assert_string_equal(prof_cpu_file_reason(&file), strerror(ENOENT));
    assert_int_equal(mkdir(folder, 0700), 0);
    /* The path was copied: the caller may change it. */
    snprintf(name, sizeof name, "%s", path);
    config.path = name;
    assert_int_equal(prof_cpu_file_start(&file, &config), PROF_OK);
    strcpy(name, "/no/such");
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
    assert_int_equal(files(), 1);
}

static long refused;

static void
start_refused(void)
{
    static sigset_t before, after; /* all bytes zero */

    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
    CHECK(refuse_syscall(refused, EAGAIN));
    CHECK(start() == PROF_ERR_UNSUPPORTED);
    CHECK(prof_cpu_file_stop(&file) == PROF_OK);
    CHECK(files() == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    /* SIGPROF is free again. */
    CHECK(prof_process_begin(cpu, NULL) == PROF_OK);
}

CPU_FILE_TEST(what_the_system_refuses_is_undone)
{
    if (HAS_TSAN)
        skip(); /* it has no threads after a fork */
    refused = SYS_setitimer;
    expect_in_child(start_refused);
    refused = SYS_clone3; /* a thread */
    expect_in_child(start_refused);
}

/* ---- the program's own ---- */

CPU_FILE_TEST(a_timer_that_was_set_is_set_again)
{
    const struct itimerval set = {.it_interval = {2000, 7},
                                  .it_value = {1000, 9}};
    const struct itimerval none = {0};
    struct itimerval left;

    assert_int_equal(setitimer(ITIMER_PROF, &set, NULL), 0);
    assert_true(signal(SIGPROF, SIG_IGN) != SIG_ERR);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(start(), PROF_OK);
        assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
        assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
        assert_int_equal(left.it_interval.tv_sec, 2000);
        assert_int_equal(left.it_interval.tv_usec, 7);
        assert_in_range(left.it_value.tv_sec, 900, 1000);
    }
    assert_int_equal(setitimer(ITIMER_PROF, &none, NULL), 0);
    assert_true(signal(SIGPROF, SIG_DFL) == SIG_IGN);
}

CPU_FILE_TEST(the_writer_takes_no_signals_of_the_program)
{
    const struct timespec no_time = {.tv_sec = 0};
    struct prof_cpu_file_config config = usual();
    sigset_t blocked;
    sigset_t before;

    config.threads_have_timers = true;
    assert_int_equal(prof_cpu_file_start(&file, &config), PROF_OK);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    tick(1);
    await_drain(1);
    assert_int_equal(sigtimedwait(&blocked, NULL, &no_time), SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
}

/* ---- children ---- */

static void
end_without_a_stop(void)
{
    CHECK(start() == PROF_OK);
    tick(3);
}

/* The child has no profile of its own yet, and no timer. */
static void
start_anew(void)
{
    struct itimerval timer;

    prof_cpu_file_after_fork_child(&file);
    CHECK(prof_cpu_file_stop(&file) == PROF_OK);
    CHECK(files() == 0);
    CHECK(getitimer(ITIMER_PROF, &timer) == 0);
    CHECK(timer.it_value.tv_sec + timer.it_value.tv_usec == 0);
    CHECK(start() == PROF_OK);
    tick(2);
    CHECK(prof_cpu_file_stop(&file) == PROF_OK);
    CHECK(ticks_written() >= 2);
    CHECK(unlink(path) == 0);
}

CPU_FILE_TEST(a_child_forgets_the_profile_and_the_parent_keeps_it)
{
    if (HAS_TSAN)
        skip(); /* it has no threads after a fork */
    expect_in_child(end_without_a_stop);
    assert_int_equal(files(), 0);
    assert_int_equal(start(), PROF_OK);
    tick(5);
    expect_in_child(start_anew);
    assert_int_equal(prof_cpu_file_stop(&file), PROF_OK);
    assert_true(ticks_written() >= 5);
    case_end(&run);
    assert_int_equal(unlink(path), 0);
    /* Another thread of the parent is in the middle of a call: it holds the
     * lock. */
    prof_port_lock_take(&file.lock);
    expect_in_child(start_anew);
    prof_port_lock_release(&file.lock);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
