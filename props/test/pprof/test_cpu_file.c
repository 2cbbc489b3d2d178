/*
 * test_cpu_file.c -- a CPU profile that a thread drains and writes to a file
 * (P5): its contents, calls in the wrong order, files that cannot be written,
 * the program's own signals. test_cpu_file_fork.c tests it with child
 * processes.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "cpu_file_asked.h"
#include "cpu_file_case.h"
#include "prof/gzip.h"
#include "unit_test.h"

enum { TRIES_MAX = 8000 };

/* ---- calls that may fail ---- */

static atomic_int drains;
static atomic_int refuses_thread;
static atomic_int refuses_timer;

void __real_prof_cpu_drain(struct prof_cpu *of);
void __wrap_prof_cpu_drain(struct prof_cpu *of);

void
__wrap_prof_cpu_drain(struct prof_cpu *of)
{
    __real_prof_cpu_drain(of);
    atomic_fetch_add(&drains, 1);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*begin)(void *), void *argument)
{
    if (atomic_load(&refuses_thread) != 0)
        return EAGAIN;
    return __real_pthread_create(thread, attributes, begin, argument);
}

static bool watches_handler;

/* The program ignores SIGPROF: it gets no tick of the profile, so its action is
 * not there whenever the timer changes. */
static void
check_handler(void)
{
    struct sigaction now;

    assert_int_equal(sigaction(SIGPROF, NULL, &now), 0);
    assert_false(now.sa_handler == SIG_IGN);
}

int __real_setitimer(int which, const struct itimerval *value,
                     struct itimerval *before);
int __wrap_setitimer(int which, const struct itimerval *value,
                     struct itimerval *before);

int
__wrap_setitimer(int which, const struct itimerval *value,
                 struct itimerval *before)
{
    if (atomic_load(&refuses_timer) != 0)
        return -1;
    if (watches_handler)
        check_handler();
    return __real_setitimer(which, value, before);
}

static atomic_int stops_refused; /* still to come */

enum prof_status __real_prof_cpu_stop(struct prof_cpu *of);
enum prof_status __wrap_prof_cpu_stop(struct prof_cpu *of);

enum prof_status
__wrap_prof_cpu_stop(struct prof_cpu *of)
{
    if (atomic_load(&stops_refused) > 0) {
        atomic_fetch_sub(&stops_refused, 1);
        return PROF_ERR_BUSY;
    }
    return __real_prof_cpu_stop(of);
}

TEST_WITH(case_folder_begin, case_folder_end, a_busy_program_is_in_its_file)
{
    struct prof_cpu_totals totals;
    uint64_t ticks;

    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(case_files(), 0); /* no file before it is complete */
    case_burn(0.3);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(case_files(), 1);
    totals = prof_cpu_totals(cpu_file.cpu);
    ticks = case_ticks();
    assert_int_equal(ticks, totals.recorded + totals.lost);
    assert_true(ticks > 0);
    assert_int_equal(cpu_file.run.profile.period, 1000000000 / PROF_CPU_HZ);
    assert_true(cpu_file.run.profile.time_ns >
                INT64_C(1000000000) * 1000000000);
    assert_true(cpu_file.run.profile.duration_ns > 0);
    case_end(&cpu_file.run);
}

/* More ticks are made by hand than the ring holds. None is lost, as the thread
 * drains the ring during the profile. Labels and stacks are as they were
 * given. */
TEST_WITH(case_folder_begin, case_folder_end, ticks_are_drained_while_they_come)
{
    const uintptr_t stack[] = {CASE_WORK, CASE_MAIN};
    struct prof_cpu_file_config config = case_config();
    enum { ROUNDS = 4, TICKS = 48 };

    config.threads_have_timers = true;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config), PROF_OK);
    for (int i = 0; i < ROUNDS; i++) {
        const int seen = atomic_load(&drains);

        for (int j = 0; j < TICKS; j++)
            prof_cpu_tick(cpu_file.cpu, stack, 2, NULL);
        /* Wait for two drains: the first may have begun before the ticks. */
        for (int j = 0; j < TRIES_MAX && atomic_load(&drains) < seen + 2; j++)
            usleep(1000);
        assert_true(atomic_load(&drains) >= seen + 2);
    }
    for (int j = 0; j < TICKS; j++)
        prof_cpu_tick(cpu_file.cpu, stack, 2, NULL);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu_file.cpu).lost, 0);
    assert_int_equal(case_ticks(), (ROUNDS + 1) * TICKS);
    assert_int_equal(cpu_file.run.profile.samples_count, 1);
    case_end(&cpu_file.run);
}

TEST_WITH(case_folder_begin, case_folder_end, a_packed_file_is_one_of_gzip)
{
    struct prof_cpu_file_config config = case_config();
    unsigned char bytes[4096];

    config.packing_bytes = prof_gzip_bytes();
    config.packing = malloc(config.packing_bytes);
    assert_non_null(config.packing);
    config.hz = 1;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_true(case_read_whole(cpu_file.path, bytes, sizeof bytes) > 18);
    assert_memory_equal(bytes, "\x1f\x8b\x08", 3);
    config.packing_bytes = 100;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_ERR_MEMORY);
    assert_int_equal(case_files(), 1);
    free(config.packing);
}

/* ---- Wrong calls, ends ---- */

TEST_WITH(case_folder_begin, case_folder_end,
          starts_and_stops_out_of_order_change_nothing)
{
    struct prof_cpu_file other = {.is_running = false};
    struct prof_cpu_file_config config = case_config();
    struct itimerval left;
    struct sigaction action;

    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(case_files(), 0);
    config.hz = 1000001;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config),
                     PROF_ERR_CONFIG);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(case_start(), PROF_OK);
        assert_int_equal(case_start(), PROF_ERR_ACTIVE);
        config = case_config();
        assert_int_equal(prof_cpu_file_start(&other, &config), PROF_ERR_ACTIVE);
        assert_int_equal(prof_cpu_file_stop(&other), PROF_OK);
        assert_int_equal(case_files(), i > 0);
        assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
        assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
        assert_int_equal(case_files(), 1);
        assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
        assert_int_equal(left.it_interval.tv_usec, 0);
        assert_int_equal(sigaction(SIGPROF, NULL, &action), 0);
        assert_ptr_equal(action.sa_handler, SIG_IGN);
    }
    /* Another profile has SIGPROF: the start fails, and leaves nothing
     * behind. */
    assert_int_equal(prof_process_begin(cpu_file.cpu, NULL), PROF_OK);
    assert_int_equal(case_start(), PROF_ERR_ACTIVE);
    prof_process_end();
    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
}

/* A profile that runs ends as it was started: in its file, with its memory and
 * its timer. */
TEST_WITH(case_folder_begin, case_folder_end,
          a_start_that_is_refused_changes_nothing)
{
    struct itimerval left;

    struct prof_cpu_file_config config = case_config();
    char other[sizeof cpu_file.folder + 8];

    snprintf(other, sizeof other, "%s/other", cpu_file.folder);
    config.path = other;
    config.threads_have_timers = true;
    config.output.scratch_bytes = 64; /* too little */
    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config),
                     PROF_ERR_ACTIVE);
    config.path = "/no/such/folder/cpu.pb.gz";
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config),
                     PROF_ERR_ACTIVE);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(access(other, F_OK), -1);
    assert_int_equal(access(cpu_file.path, F_OK), 0);
    assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
    assert_int_equal(left.it_value.tv_sec, 0);
    assert_int_equal(left.it_value.tv_usec, 0);
}

TEST_WITH(case_folder_begin, case_folder_end,
          the_caller_may_change_the_path_after_the_start)
{
    struct prof_cpu_file_config config = case_config();
    char other[sizeof cpu_file.folder + 8];
    char path[PROF_PATH_MAX];

    snprintf(other, sizeof other, "%s/other", cpu_file.folder);
    snprintf(path, sizeof path, "%s", cpu_file.path);
    config.path = path;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config), PROF_OK);
    memcpy(path, other, sizeof other);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(access(other, F_OK), -1);
    assert_int_equal(access(cpu_file.path, F_OK), 0);
}

/* Whether the profile is taken or refused. */
TEST_WITH(case_folder_begin, case_folder_end, a_timer_that_was_set_is_set_again)
{
    const struct itimerval set = {.it_interval = {2000, 7},
                                  .it_value = {1000, 9}};
    const struct itimerval none = {0};
    struct itimerval left;

    assert_int_equal(setitimer(ITIMER_PROF, &set, NULL), 0);
    assert_true(signal(SIGPROF, SIG_IGN) != SIG_ERR);
    watches_handler = true;
    for (int i = 0; i < 3; i++) {
        atomic_store(&refuses_thread, i == 1);
        assert_int_equal(case_start(), i == 1 ? PROF_ERR_UNSUPPORTED : PROF_OK);
        assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
        assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
        assert_int_equal(left.it_interval.tv_sec, 2000);
        assert_int_equal(left.it_interval.tv_usec, 7);
        assert_in_range(left.it_value.tv_sec, 900, 1000);
    }
    watches_handler = false;
    assert_int_equal(setitimer(ITIMER_PROF, &none, NULL), 0);
    assert_true(signal(SIGPROF, SIG_DFL) == SIG_IGN);
}

/* returns: is a signal blocked that was not blocked before? */
static bool
blocks_more_than(const sigset_t *before)
{
    sigset_t now;

    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    for (int number = 1; number < SIGRTMAX; number++) {
        if (sigismember(&now, number) != sigismember(before, number))
            return true;
    }
    return false;
}

TEST_WITH(case_folder_begin, case_folder_end, what_the_system_refuses_is_undone)
{
    sigset_t before;

    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    for (int i = 0; i < 3; i++) {
        atomic_store(i == 0 ? &refuses_thread : &refuses_timer, 1);
        assert_int_equal(case_start(), PROF_ERR_UNSUPPORTED);
        assert_false(blocks_more_than(&before));
        atomic_store(&refuses_thread, 0);
        atomic_store(&refuses_timer, 0);
        assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
        assert_int_equal(case_files(), 0);
    }
    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    assert_int_equal(case_files(), 1);
}

TEST_WITH(case_folder_begin, case_folder_end,
          files_that_cannot_be_written_are_known_early_or_at_the_stop)
{
    static char far[PROF_PATH_MAX + 8];
    struct prof_cpu_file_config config = case_config();

    config.path = "/no/such/folder/cpu.pb.gz";
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config),
                     PROF_ERR_SINK);
    assert_string_equal(prof_cpu_file_reason(&cpu_file.file), strerror(ENOENT));
    memset(far, 'x', sizeof far - 1);
    config.path = far;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config),
                     PROF_ERR_SINK);
    assert_string_equal(prof_cpu_file_reason(&cpu_file.file),
                        strerror(ENAMETOOLONG));
    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(rmdir(cpu_file.folder), 0);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_ERR_SINK);
    assert_string_equal(prof_cpu_file_reason(&cpu_file.file), strerror(ENOENT));
    assert_int_equal(mkdir(cpu_file.folder, 0700), 0);
    /* With too little scratch the old file stays. */
    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    config = case_config();
    config.output.scratch_bytes = 64;
    assert_int_equal(prof_cpu_file_start(&cpu_file.file, &config), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_ERR_MEMORY);
    assert_int_equal(case_files(), 1);
    assert_int_equal(case_ticks(), 0);
    case_end(&cpu_file.run);
    assert_int_equal(case_start(), PROF_OK);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
}

/* Whether the profile is stopped or never began. */
TEST_WITH(case_folder_begin, case_folder_end,
          handlers_that_are_still_recording_are_waited_for)
{
    for (int i = 0; i < 3; i++) {
        atomic_store(&stops_refused, 5);
        atomic_store(&refuses_thread, i == 1);
        assert_int_equal(case_start(), i == 1 ? PROF_ERR_UNSUPPORTED : PROF_OK);
        assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
        assert_int_equal(atomic_load(&stops_refused), 0);
        atomic_store(&refuses_thread, 0);
    }
}

/* Whatever the length of the path: behind the profile is other memory. */
TEST_WITH(case_folder_begin, case_folder_end,
          a_path_that_is_too_long_is_copied_nowhere)
{
    static struct {
        struct prof_cpu_file file;
        char behind[PROF_PATH_MAX];
    } one;
    static char far[2 * PROF_PATH_MAX];
    struct prof_cpu_file_config config = case_config();

    memset(far, 'x', sizeof far - 1);
    config.path = far;
    assert_int_equal(prof_cpu_file_start(&one.file, &config), PROF_ERR_SINK);
    assert_int_equal(one.file.stopping, 0);
    for (size_t i = 0; i < sizeof one.behind; i++)
        assert_int_equal(one.behind[i], 0);
}

TEST_WITH(case_folder_begin, case_folder_end, a_profile_may_last_for_days)
{
    const int64_t days_ns = INT64_C(10) * 24 * 3600 * 1000000000;

    assert_int_equal(case_start(), PROF_OK);
    cpu_file.file.began_monotonic_ns -= days_ns; /* as if it were so long ago */
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
    (void)case_ticks();
    assert_in_range(cpu_file.run.profile.duration_ns, days_ns,
                    days_ns + INT64_C(3600) * 1000000000);
    case_end(&cpu_file.run);
}

/* ---- any order ---- */

/* Each profile has the settings, the ticks and the time of its own start,
 * whichever were taken, refused or failed before; and afterwards the program
 * has its own timer. */
TEST_WITH(case_folder_begin, case_folder_end,
          a_profile_is_as_its_own_start_asked_for)
{
    void *const packing = malloc(prof_gzip_bytes());
    const struct itimerval none = {0};

    assert_non_null(packing);
    for (int i = 0; i < 60; i++) {
        struct asked asked;
        struct itimerval set;
        bool fails;

        asked_set_timer(&set);
        if (asked_start(&asked, packing, &refuses_thread) == PROF_OK) {
            fails = asked.config.packing != NULL &&
                    asked.config.packing_bytes < prof_gzip_bytes();
            asked.ticks = asked_draw(5);
            for (uint64_t tick = 0; tick < asked.ticks; tick++)
                assert_int_equal(raise(SIGPROF), 0);
            assert_int_equal(prof_cpu_file_stop(&cpu_file.file),
                             fails ? PROF_ERR_MEMORY : PROF_OK);
            if (!fails)
                asked_check(&asked);
        }
        assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
        asked_check_timer(&set);
        assert_true(case_files() <= 1);
    }
    assert_int_equal(setitimer(ITIMER_PROF, &none, NULL), 0);
    free(packing);
}

/* ---- threads and processes ---- */

static void *
start_and_stop(void *context)
{
    const struct prof_cpu_file_config *config = context;

    for (int i = 0; i < 50; i++) {
        const enum prof_status started =
            prof_cpu_file_start(&cpu_file.file, config);

        if (started != PROF_OK && started != PROF_ERR_ACTIVE)
            return NULL;
        if (prof_cpu_file_stop(&cpu_file.file) != PROF_OK)
            return NULL;
    }
    return context;
}

TEST_WITH(case_folder_begin, case_folder_end,
          many_threads_may_start_and_stop_it)
{
    struct prof_cpu_file_config config = case_config();
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, start_and_stop, &config), 0);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, &config);
    }
    assert_int_equal(case_files(), 1);
}

/* If all threads of the program block SIGPROF, a signal stays pending. It would
 * end the process if the default action came back. */
TEST_WITH(case_folder_begin, case_folder_end,
          the_writer_takes_no_signals_of_the_program)
{
    sigset_t blocked;
    sigset_t before;
    const struct timespec no_time = {.tv_sec = 0};
    int seen;

    assert_int_equal(case_start(), PROF_OK);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    seen = atomic_load(&drains);
    for (int i = 0; i < TRIES_MAX && atomic_load(&drains) == seen; i++)
        usleep(1000);
    assert_int_equal(sigtimedwait(&blocked, NULL, &no_time), SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(prof_cpu_file_stop(&cpu_file.file), PROF_OK);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
