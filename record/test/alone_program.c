/*
 * alone_program.c -- a program with one thread, then with a second one, which
 * makes its first thread wait for a lock. record/test/test_profile.sh tests
 * that the profiler notices the wait.
 *
 * usage: alone_program pthread | c11 | timer | fork
 *   How the second thread begins: by pthread_create(), by thrd_create(), as the
 *   thread that libc begins for a timer, or in a forked child.
 *
 * The second thread holds a lock for which the first waits. The program prints
 * the least time in ns that the first thread waited.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { HELD_NS = 50000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int is_held;
static _Atomic int is_waited_for;
static _Atomic int is_charged; /* the holder's unlock has returned */

static void
pause_ns(long ns)
{
    const struct timespec time = {.tv_nsec = ns};

    nanosleep(&time, NULL);
}

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
hold_the_lock(void)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&is_held, 1);
    while (atomic_load(&is_waited_for) == 0)
        pause_ns(100000);
    pause_ns(HELD_NS);
    pthread_mutex_unlock(&mutex);
    atomic_store(&is_charged, 1);
}

static void *
hold_in_pthread(void *context)
{
    hold_the_lock();
    return context;
}

static int
hold_in_thrd(void *context)
{
    (void)context;
    hold_the_lock();
    return 0;
}

static void
hold_in_timer(union sigval value)
{
    (void)value;
    hold_the_lock();
}

static int
begin_timer(void)
{
    const struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = hold_in_timer};
    timer_t timer;

    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
                   timer_settime(timer, 0, &soon, NULL) == 0
               ? 0
               : -1;
}

static int
begin(const char *how)
{
    pthread_t thread;
    thrd_t other;

    if (strcmp(how, "timer") == 0)
        return begin_timer();
    if (strcmp(how, "c11") == 0)
        return thrd_create(&other, hold_in_thrd, NULL) == thrd_success ? 0 : -1;
    return pthread_create(&thread, NULL, hold_in_pthread, NULL);
}

int
main(int argc, char **argv)
{
    uint64_t began_ns;
    pid_t child = 0;
    int status = 0;

    if (argc != 2)
        return 2;
    alarm(60);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    if (strcmp(argv[1], "fork") == 0 && (child = fork()) > 0)
        return waitpid(child, &status, 0) == child ? status : 1;
    if (begin(argv[1]) != 0)
        return 1;
    while (atomic_load(&is_held) == 0)
        pause_ns(100000);
    began_ns = now_ns();
    atomic_store(&is_waited_for, 1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    printf("waited %" PRIu64 "\n", now_ns() - began_ns);
    while (atomic_load(&is_charged) == 0)
        pause_ns(100000);
    return 0;
}
