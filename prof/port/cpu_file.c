/*
 * cpu_file.c -- a thread that drains the ticks of a CPU profile and writes its
 * file, on Linux.
 *
 * Start and stop hold the lock until they return; stop holds it even while it
 * waits for the writer. The writer never takes the lock, so there is no
 * deadlock.
 */
#include "prof/cpu_file.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "prof/fork.h"
#include "prof/gzip.h"

enum {
    NS_PER_MS = 1000000,
    US_PER_SECOND = 1000000,
    HANDLER_TRIES_MAX = 1000 /* at 1 ms each */
};

/* ---- the writer ---- */

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "there is room for it");

static _Atomic uint32_t *
word_of(uint32_t *word)
{
    return (_Atomic uint32_t *)word;
}

/* returns: whether the profile is being stopped */
static bool
sleep_until_stop(struct prof_cpu_file *file)
{
    const struct timespec time = {.tv_nsec =
                                      (long)PROF_CPU_FILE_DRAIN_MS * NS_PER_MS};

    (void)syscall(SYS_futex, &file->stopping, FUTEX_WAIT_PRIVATE, 0, &time,
                  NULL, 0);
    return atomic_load_explicit(word_of(&file->stopping),
                                memory_order_acquire) != 0;
}

/*
 * No new ticks are taken; wait for those that handlers are still recording. If
 * a handler's thread stays stopped, its tick is left out in the end.
 */
static void
wait_for_handlers(struct prof_cpu *cpu)
{
    const struct timespec pause = {.tv_nsec = NS_PER_MS};
    enum prof_status status;
    int tries = 0;

    do
        status = prof_cpu_stop(cpu);
    while (status == PROF_ERR_BUSY && tries++ < HANDLER_TRIES_MAX &&
           nanosleep(&pause, NULL) == 0);
}

static enum prof_status
write_to(struct prof_cpu_file *file, const struct prof_sink *to)
{
    const struct prof_cpu_file_config *config = &file->config;
    struct prof_output output = config->output;
    struct prof_gzip gzip;

    output.sink = *to;
    output.time_ns = file->began_ns;
    if (config->packing == NULL)
        return prof_cpu_write(config->cpu, &output, file->duration_ns);
    prof_gzip_begin(&gzip, to, config->packing, config->packing_bytes);
    output.sink = prof_gzip_sink(&gzip);
    return prof_gzip_end(
        &gzip, prof_cpu_write(config->cpu, &output, file->duration_ns));
}

static enum prof_status
write_file(struct prof_cpu_file *file)
{
    enum prof_status status = prof_file_begin(&file->file, file->path);
    struct prof_sink to;

    if (status != PROF_OK)
        return status;
    to = prof_file_sink(&file->file);
    return prof_file_end(&file->file, write_to(file, &to));
}

static void *
run_writer(void *context)
{
    struct prof_cpu_file *file = context;

    while (!sleep_until_stop(file))
        prof_cpu_drain(file->config.cpu);
    wait_for_handlers(file->config.cpu);
    file->status = write_file(file);
    return NULL;
}

/* Begin a thread that blocks all signals but the profile's, so that it does not
 * take those meant for the program's threads. */
static bool
begin_writer(struct prof_cpu_file *file)
{
    sigset_t all;
    sigset_t before;
    pthread_t writer;
    bool begun;

    sigfillset(&all);
    sigdelset(&all, SIGPROF);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    begun = pthread_create(&writer, NULL, run_writer, file) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (begun)
        file->writer = (uintptr_t)writer;
    return begun;
}

static void
end_writer(struct prof_cpu_file *file)
{
    /* Release: store the duration before the writer reads it. */
    atomic_store_explicit(word_of(&file->stopping), 1, memory_order_release);
    prof_port_wake(&file->stopping);
    (void)pthread_join((pthread_t)file->writer, NULL);
}

/* ---- the process ---- */

static bool
begin_timer(struct prof_cpu_file *file)
{
    const uint32_t hz = file->config.hz;
    struct itimerval times;
    struct itimerval before;

    if (file->config.threads_have_timers)
        return true;
    times.it_interval.tv_sec = hz == 1 ? 1 : 0;
    times.it_interval.tv_usec = hz == 1 ? 0 : (long)(US_PER_SECOND / hz);
    times.it_value = times.it_interval;
    if (setitimer(ITIMER_PROF, &times, &before) != 0)
        return false;
    file->timer_before[0] = before.it_interval.tv_sec;
    file->timer_before[1] = before.it_interval.tv_usec;
    file->timer_before[2] = before.it_value.tv_sec;
    file->timer_before[3] = before.it_value.tv_usec;
    return true;
}

static void
end_timer(struct prof_cpu_file *file)
{
    const int64_t *before = file->timer_before;
    const struct itimerval times = {
        .it_interval = {.tv_sec = before[0], .tv_usec = before[1]},
        .it_value = {.tv_sec = before[2], .tv_usec = before[3]}};

    if (!file->config.threads_have_timers)
        (void)setitimer(ITIMER_PROF, &times, NULL);
}

/* Copy the path, and check now rather than after the profile that it can be
 * written. */
static enum prof_status
take_path(struct prof_cpu_file *file, const char *path)
{
    const enum prof_status status = prof_file_check(&file->file, path);

    if (status == PROF_OK)
        strcpy(file->path, path); /* it fits: a longer one is refused */
    return status;
}

/* Begin to take ticks; on failure, undo what was begun. */
static enum prof_status
begin_ticks(struct prof_cpu_file *file)
{
    struct prof_cpu *const cpu = file->config.cpu;
    enum prof_status status = prof_cpu_start(cpu, file->config.hz);

    if (status != PROF_OK)
        return status;
    status = prof_process_begin(cpu, file->config.unwind);
    if (status == PROF_OK) {
        file->began_ns = prof_process_time_ns();
        file->began_monotonic_ns = prof_process_monotonic_ns();
        if (begin_timer(file))
            return PROF_OK;
        prof_process_end();
        status = PROF_ERR_UNSUPPORTED;
    }
    wait_for_handlers(cpu);
    return status;
}

static void
end_ticks(struct prof_cpu_file *file)
{
    end_timer(file);
    prof_process_end();
    file->duration_ns = prof_process_monotonic_ns() - file->began_monotonic_ns;
}

static enum prof_status
start_locked(struct prof_cpu_file *file,
             const struct prof_cpu_file_config *config)
{
    enum prof_status status;

    if (file->is_running)
        return PROF_ERR_ACTIVE;
    file->config = *config;
    if (config->hz == 0)
        file->config.hz = PROF_CPU_HZ;
    file->stopping = 0;
    status = take_path(file, config->path);
    if (status != PROF_OK)
        return status;
    file->is_running = true; /* for a fork that comes now */
    status = begin_ticks(file);
    if (status == PROF_OK && !begin_writer(file)) {
        end_ticks(file);
        wait_for_handlers(file->config.cpu);
        status = PROF_ERR_UNSUPPORTED;
    }
    file->is_running = status == PROF_OK;
    return status;
}

enum prof_status
prof_cpu_file_start(struct prof_cpu_file *file,
                    const struct prof_cpu_file_config *config)
{
    enum prof_status status;

    prof_port_lock_take(&file->lock);
    status = start_locked(file, config);
    prof_port_lock_release(&file->lock);
    return status;
}

enum prof_status
prof_cpu_file_stop(struct prof_cpu_file *file)
{
    enum prof_status status = PROF_OK;

    prof_port_lock_take(&file->lock);
    if (file->is_running) {
        end_ticks(file);
        end_writer(file);
        status = file->status;
        file->is_running = false;
    }
    prof_port_lock_release(&file->lock);
    return status;
}

const char *
prof_cpu_file_reason(const struct prof_cpu_file *file)
{
    return prof_file_reason(&file->file);
}

void
prof_cpu_file_after_fork_child(struct prof_cpu_file *file)
{
    if (file->is_running) {
        prof_process_end();
        prof_cpu_after_fork_child(file->config.cpu);
    }
    memset(file, 0, sizeof *file);
}
