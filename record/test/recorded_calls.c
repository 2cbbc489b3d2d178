/*
 * recorded_calls.c -- a program that resizes blocks, allocates aligned ones,
 * and waits with time limits.
 *
 * test_recorder.py, which knows these sizes, runs it under the recorder.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void
expect(bool good)
{
    if (!good)
        abort();
}

/* The block is volatile: a compiler may leave out a block that is not used. */
static void
allocate(size_t bytes)
{
    void *volatile block = malloc(bytes);

    free(block);
}

static void
resize(void)
{
    volatile size_t too_much = SIZE_MAX / 2;
    volatile size_t nothing = 0;
    void *volatile object = malloc(1234567);
    void *volatile other = malloc(7654321);
    void *volatile grown;

    object = realloc(object, 2345678);
    object = realloc(object, 3456789);
    grown = realloc(object, too_much);
    expect(grown == NULL);
    object = realloc(object, 45);
    grown = realloc(other, nothing);
    expect(grown == NULL);
    free(object);
}

/* The object lives for 30 ms, in which nothing else is recorded. */
static void
live_a_while(void)
{
    void *volatile object = malloc(424240);

    expect(nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL) == 0);
    free(object);
}

static void
align(void)
{
    void *volatile zeroed = calloc(7, 111111);
    void *volatile aligned = aligned_alloc(4096, 888832);
    void *other = NULL;

    expect(posix_memalign(&other, 64, 999999) == 0);
    free(zeroed);
    free(aligned);
    free(other);
    zeroed = calloc(11, 1010); /* small enough for a short record */
    aligned = aligned_alloc(64, 11136);
    free(zeroed);
    free(aligned);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static volatile sig_atomic_t ticks;

static struct timespec
soon(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_nsec += 5000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

/* At the fifth tick the thread is surely waiting for the semaphore. */
static void
post_later(int unused)
{
    (void)unused;
    if (++ticks == 5)
        sem_post(&semaphore);
}

static void
wait_for_post(void)
{
    const struct sigaction action = {.sa_handler = post_later,
                                     .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = 5000},
                                    .it_value = {.tv_usec = 5000}};

    expect(sigaction(SIGALRM, &action, NULL) == 0);
    expect(setitimer(ITIMER_REAL, &often, NULL) == 0);
    expect(sem_wait(&semaphore) == 0);
}

/* Wait in each way once, in the order that the test expects; all waits but the
 * last end without the lock. */
static void *
wait_for_all(void *unused)
{
    struct timespec real;
    struct timespec steady;

    (void)unused;
    allocate(50); /* logged before the thread has its name */
    expect(pthread_setname_np(pthread_self(), "waits a lot") == 0);
    real = soon(CLOCK_REALTIME);
    expect(pthread_mutex_timedlock(&mutex, &real) == ETIMEDOUT);
    steady = soon(CLOCK_MONOTONIC);
    expect(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &steady) ==
           ETIMEDOUT);
    real = soon(CLOCK_REALTIME);
    expect(pthread_rwlock_timedrdlock(&rwlock, &real) == ETIMEDOUT);
    steady = soon(CLOCK_MONOTONIC);
    expect(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &steady) ==
           ETIMEDOUT);
    real = soon(CLOCK_REALTIME);
    expect(pthread_rwlock_timedwrlock(&rwlock, &real) == ETIMEDOUT);
    steady = soon(CLOCK_MONOTONIC);
    expect(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &steady) ==
           ETIMEDOUT);
    real = soon(CLOCK_REALTIME);
    expect(sem_timedwait(&semaphore, &real) == -1 && errno == ETIMEDOUT);
    steady = soon(CLOCK_MONOTONIC);
    expect(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &steady) == -1 &&
           errno == ETIMEDOUT);
    wait_for_post();
    return NULL;
}

static void
wait_in_thread(void)
{
    pthread_t thread;

    expect(sem_init(&semaphore, 0, 0) == 0);
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    expect(pthread_create(&thread, NULL, wait_for_all, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_unlock(&mutex);
}

/*
 * A child that a handler forks in the middle of a wait has a log of its own,
 * which knows nothing of how the wait began. The handler ends the wait.
 */
static void
fork_later(int unused)
{
    (void)unused;
    if (++ticks == 5 && fork() == 0)
        ticks = -1000000;
}

static void
fork_in_wait(void)
{
    const struct sigaction action = {.sa_handler = fork_later,
                                     .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = 5000},
                                    .it_value = {.tv_usec = 5000}};
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    ticks = 0;
    expect(sigaction(SIGALRM, &action, NULL) == 0);
    expect(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (sem_timedwait(&semaphore, &until) != 0 && errno == EINTR)
        continue;
    if (ticks < 0) {
        allocate(555555);
        _exit(0);
    }
    expect(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL) == 0);
    expect(wait(NULL) > 0);
}

/* Print for each block its size and its usable size, as malloc reports them. */
static void
say_usable(void *block, size_t bytes)
{
    expect(block != NULL);
    printf("%zu %zu\n", bytes, malloc_usable_size(block));
}

static int
use_blocks(void)
{
    void *volatile kept[8];

    kept[0] = malloc(1001);
    say_usable(kept[0], 1001);
    kept[1] = calloc(1, 333333);
    say_usable(kept[1], 333333);
    kept[2] = aligned_alloc(4096, 8192);
    say_usable(kept[2], 8192);
    kept[0] = realloc(kept[0], 55555);
    say_usable(kept[0], 55555);
    free(kept[1]);
    free(kept[2]);
    free(kept[0]);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "usable") == 0)
        return use_blocks();
    allocate(50); /* logged before the thread has its name */
    expect(prctl(PR_SET_NAME, "named by prctl") == 0);
    resize();
    live_a_while();
    align();
    wait_in_thread();
    fork_in_wait();
    return 0;
}
