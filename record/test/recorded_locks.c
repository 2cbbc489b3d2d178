/* recorded_locks.c -- see recorded_locks.h. */
#include "record/test/recorded_locks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool cond_ready;
static _Atomic long waiter_thread;

static NOINLINE void
wait_for_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static NOINLINE void
wait_to_read(void)
{
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
wait_to_write(void)
{
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
wait_for_signal(void)
{
    pthread_mutex_lock(&cond_mutex);
    while (!cond_ready)
        pthread_cond_wait(&cond, &cond_mutex);
    pthread_mutex_unlock(&cond_mutex);
}

static NOINLINE void
wait_in_vain(void)
{
    struct timespec past = {.tv_sec = 1};

    pthread_mutex_lock(&cond_mutex);
    pthread_cond_timedwait(&cond, &cond_mutex, &past);
    pthread_mutex_unlock(&cond_mutex);
}

static void *
waiter(void *body)
{
    void (*wait)(void);

    memcpy(&wait, &body, sizeof wait);
    atomic_store(&waiter_thread, (long)syscall(SYS_gettid));
    wait();
    return NULL;
}

static bool
is_asleep(long thread)
{
    char path[64];
    char text[256] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    state = strrchr(text, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}

/* Start a thread and wait, at most 20 s, until it sleeps in its wait. */
static pthread_t
start_waiter(void (*wait)(void))
{
    struct timespec pause = {.tv_nsec = 2000000};
    pthread_t thread;
    void *body;
    int asleep = 0;
    int i;

    memcpy(&body, &wait, sizeof body);
    atomic_store(&waiter_thread, 0);
    if (pthread_create(&thread, NULL, waiter, body) != 0)
        abort();
    for (i = 0; i < 10000 && asleep < 10; i++) {
        long number = atomic_load(&waiter_thread);

        asleep = number != 0 && is_asleep(number) ? asleep + 1 : 0;
        nanosleep(&pause, NULL);
    }
    return thread;
}

static NOINLINE void
let_go_of_mutex(void)
{
    pthread_mutex_unlock(&mutex);
}

static NOINLINE void
let_go_of_rwlock(void)
{
    pthread_rwlock_unlock(&rwlock);
}

static NOINLINE void
wait_beside_another(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static NOINLINE void
give_up_beside_another(void)
{
    const struct timespec past = {.tv_sec = 1};

    if (pthread_mutex_timedlock(&mutex, &past) != ETIMEDOUT)
        abort();
}

static void *
give_up_in_thread(void *unused)
{
    (void)unused;
    give_up_beside_another();
    return NULL;
}

static NOINLINE void
let_go_after_one_gave_up(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Two threads wait for a lock; the first gives up, and the second gets it. */
static void
run_two_waiters(void)
{
    pthread_t thread;
    pthread_t other;

    pthread_mutex_lock(&mutex);
    thread = start_waiter(wait_beside_another);
    if (pthread_create(&other, NULL, give_up_in_thread, NULL) != 0)
        abort();
    pthread_join(other, NULL);
    let_go_after_one_gave_up();
    pthread_join(thread, NULL);
}

static NOINLINE void
wait_for_who_waits(void)
{
    pthread_mutex_lock(&cond_mutex);
    cond_ready = true;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&cond_mutex);
}

static NOINLINE void
let_go_by_waiting(void)
{
    while (!cond_ready)
        pthread_cond_wait(&cond, &cond_mutex);
}

/* A thread that waits on a condition releases a mutex for which another
 * waits. */
static void
run_condition(void)
{
    pthread_t thread;

    cond_ready = false;
    pthread_mutex_lock(&cond_mutex);
    thread = start_waiter(wait_for_who_waits);
    let_go_by_waiting();
    pthread_mutex_unlock(&cond_mutex);
    pthread_join(thread, NULL);
}

void
recorded_locks_run(void)
{
    pthread_t thread;

    pthread_mutex_lock(&mutex);
    thread = start_waiter(wait_for_mutex);
    let_go_of_mutex();
    pthread_join(thread, NULL);

    pthread_rwlock_wrlock(&rwlock);
    thread = start_waiter(wait_to_read);
    let_go_of_rwlock();
    pthread_join(thread, NULL);

    pthread_rwlock_rdlock(&rwlock);
    thread = start_waiter(wait_to_write);
    let_go_of_rwlock();
    pthread_join(thread, NULL);

    thread = start_waiter(wait_for_signal);
    pthread_mutex_lock(&cond_mutex);
    cond_ready = true;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&cond_mutex);
    pthread_join(thread, NULL);
    wait_in_vain();
    run_two_waiters();
    run_condition();
}
