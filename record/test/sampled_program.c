/*
 * sampled_program.c -- a program that counts what it does. It runs under the
 * profiler, and record/test/test_profile.sh compares the counts.
 *
 * usage: sampled_program heap [FREE] prints each site's truth, a line each
 *        sampled_program threads       the same, of 300 threads that live at
 *                                      once, and 300 one after another
 *        sampled_program rates         site_malloc while all is sampled,
 *                                      site_calloc while nothing is
 *        sampled_program many N BYTES  N blocks of each of three sizes
 *        sampled_program fork          the same site in parent and child
 *        sampled_program children N BYTES  a block in each of N children
 *        sampled_program forked-by-thread  as fork, but by a second thread
 *        sampled_program exec          allocates, and executes `heap`
 *        sampled_program losses        more live blocks and more stacks than
 * the tables hold, and frees that are not seen; prints how many of each
 *        sampled_program mutex N       least and most ns that a holder is
 *                                      waited for by N threads
 *        sampled_program cpu           CPU ns burned in two functions
 *        sampled_program signal        has a handler of SIGUSR2; says so
 *        sampled_program wait          allocates, says its number, and waits
 *                                      for a line of its input
 *        sampled_program busy          the same; 8 threads allocate meanwhile
 *        sampled_program deep N        allocates below N frames
 *        sampled_program status N      only exits, with status N
 *
 * The truth is printed in the form that sampled_sites.h describes.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/test/sampled_sites.h"

enum {
    THREADS = 300, /* more threads than the profiler has processors */
    BLOCKS = 64,   /* for each thread and site */
    BURN_NS = 300000000
};

/* ---- heap ---- */

static volatile uint64_t burned;

struct work {
    pthread_t thread;
    struct block kept[6 * BLOCKS];
    size_t count;
};

static struct work works[4];

static void *
allocate(void *context)
{
    struct work *const work = context;

    for (size_t i = 0; i < BLOCKS; i++) {
        const size_t bytes = 1 + i * i;
        const struct block gone = site_malloc(bytes);

        work->kept[work->count++] = site_malloc(bytes);
        work->kept[work->count++] = site_calloc(bytes);
        work->kept[work->count++] = site_aligned(1 + i);
        work->kept[work->count++] = site_posix(bytes);
        work->kept[work->count++] = site_grow(site_malloc(bytes));
        work->kept[work->count++] = site_shrink(site_calloc(bytes));
        sampled_release(&gone);
    }
    return NULL;
}

/* The main thread frees what two threads allocated, after they have ended. */
static int
run_heap(bool free_all)
{
    for (int i = 0; i < 4; i++)
        if (pthread_create(&works[i].thread, NULL, allocate, &works[i]) != 0)
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(works[i].thread, NULL);
    for (int i = 0; i < (free_all ? 4 : 2); i++)
        for (size_t k = 0; k < works[i].count; k++)
            sampled_release(&works[i].kept[k]);
    sampled_print_truth();
    return 0;
}

/* ---- threads ---- */

static pthread_barrier_t all_live;
static struct block of_threads[2 * THREADS][2];

static void *
live_a_while(void *context)
{
    const size_t i = (size_t)(uintptr_t)context;

    of_threads[i][0] = site_of_a_thread(i + 1);
    if (i < THREADS)
        pthread_barrier_wait(&all_live);
    of_threads[i][1] = site_of_a_thread(2 * i + 1);
    sampled_release(&of_threads[i][0]);
    return NULL;
}

static int
run_threads(void)
{
    static pthread_t threads[THREADS];

    pthread_barrier_init(&all_live, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, live_a_while, (void *)i) != 0)
            return 1;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uintptr_t i = THREADS; i < 2 * THREADS; i++)
        if (pthread_create(&threads[0], NULL, live_a_while, (void *)i) != 0 ||
            pthread_join(threads[0], NULL) != 0)
            return 1;
    for (size_t i = 0; i < 2 * THREADS; i += 3)
        sampled_release(&of_threads[i][1]);
    sampled_print_truth();
    return 0;
}

/* ---- rate ---- */

static int
run_many(uint64_t count, size_t bytes)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct block blocks[] = {
            site_small(bytes / 16), site_middle(bytes), site_large(bytes * 16)};

        for (size_t k = 0; k < 3; k++)
            sampled_release(&blocks[k]);
    }
    sampled_print_truth();
    return 0;
}

static int
run_children(uint64_t count, size_t bytes)
{
    for (uint64_t i = 0; i < count; i++) {
        const pid_t child = fork();

        if (child == 0) {
            (void)site_malloc(bytes);
            return 0;
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return 1;
    }
    return 0;
}

static int
run_fork(void)
{
    struct block before[8];
    pid_t child;

    for (size_t i = 0; i < 8; i++)
        before[i] = site_malloc(1000 + i);
    child = fork();
    if (child == 0) {
        for (size_t i = 0; i < 3; i++)
            (void)site_of_the_child(2000);
        sampled_release(&before[0]);
        sampled_release(&before[1]);
    } else if (child < 0 || waitpid(child, NULL, 0) != child) {
        return 1;
    } else {
        sampled_release(&before[7]);
    }
    printf("process %ld\n", (long)getpid());
    sampled_print_truth();
    return 0;
}

static void *
fork_in_thread(void *status)
{
    *(int *)status = run_fork();
    return NULL;
}

/* The child has one thread then, which exits. */
static int
run_forked_by_thread(void)
{
    pthread_t thread;
    int status = 1;

    if (pthread_create(&thread, NULL, fork_in_thread, &status) != 0)
        return 1;
    pthread_join(thread, NULL);
    return status;
}

/* ---- mutex ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t began_ns;
static _Atomic int waiter_id;

static uint64_t
now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
pause_ns(long ns)
{
    const struct timespec pause = {.tv_nsec = ns};

    nanosleep(&pause, NULL);
}

static void *
wait_for_it(void *context)
{
    atomic_store(&began_ns, now_ns(CLOCK_MONOTONIC));
    atomic_store(&waiter_id, (int)syscall(SYS_gettid));
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return context;
}

/* returns: a moment when the thread was already asleep in the kernel */
static uint64_t
seen_asleep_ns(int thread)
{
    char path[64];
    char text[256];

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    for (int tries = 0; tries < 5000; tries++) {
        FILE *const file = fopen(path, "r");
        const size_t got =
            file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;

        text[got] = '\0';
        if (file != NULL)
            fclose(file);
        if (text[0] != 'r' && strtol(text, NULL, 10) == SYS_futex)
            return now_ns(CLOCK_MONOTONIC);
        pause_ns(1000000);
    }
    abort();
}

/*
 * What Go charges for n waiters, if the first has waited `head` ns and the last
 * `tail` ns: `head` for the first, and the mean of the two for each of the
 * others.
 */
static uint64_t
charge(uint64_t head, uint64_t tail, uint64_t n)
{
    return head + (head + tail) / 2 * (n - 1);
}

__attribute__((noinline)) static int
hold_the_lock(uint64_t waiters)
{
    static pthread_t threads[64];
    uint64_t earliest[2] = {0, 0}; /* first waiter, last waiter */
    uint64_t latest[2] = {0, 0};
    uint64_t unlocking;
    uint64_t unlocked;

    pthread_mutex_lock(&mutex);
    for (uint64_t i = 0; i < waiters; i++) {
        const int which = i == 0 ? 0 : 1;

        atomic_store(&waiter_id, 0);
        if (pthread_create(&threads[i], NULL, wait_for_it, NULL) != 0)
            abort();
        while (atomic_load(&waiter_id) == 0)
            pause_ns(100000);
        earliest[which] = atomic_load(&began_ns);
        latest[which] = seen_asleep_ns(atomic_load(&waiter_id));
    }
    pause_ns(50000000);
    unlocking = now_ns(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&mutex);
    unlocked = now_ns(CLOCK_MONOTONIC);
    if (waiters == 1) {
        earliest[1] = earliest[0];
        latest[1] = latest[0];
    }
    for (uint64_t i = 0; i < waiters; i++)
        pthread_join(threads[i], NULL);
    printf("least %" PRIu64 " most %" PRIu64 "\n",
           charge(unlocking - latest[0], unlocking - latest[1], waiters) -
               waiters,
           charge(unlocked - earliest[0], unlocked - earliest[1], waiters));
    return 0;
}

/* ---- CPU ---- */

#define BURN(name)                                               \
    __attribute__((noinline)) static uint64_t name(uint64_t ns)  \
    {                                                            \
        const uint64_t begin = now_ns(CLOCK_PROCESS_CPUTIME_ID); \
        uint64_t end = begin;                                    \
                                                                 \
        while (end - begin < ns) {                               \
            for (int i = 0; i < 1000000; i++)                    \
                burned += (uint64_t)i;                           \
            end = now_ns(CLOCK_PROCESS_CPUTIME_ID);              \
        }                                                        \
        return end - begin;                                      \
    }

BURN(burn_much)
BURN(burn_little)

static int
run_cpu(void)
{
    uint64_t much = 0;
    uint64_t little = 0;

    for (int i = 0; i < 4; i++) {
        much += burn_much(BURN_NS);
        little += burn_little(BURN_NS / 3);
    }
    printf("burn_much %" PRIu64 " burn_little %" PRIu64 "\n", much, little);
    return 0;
}

/* ---- a program that waits until it is told to end ---- */

static volatile sig_atomic_t signals;
static _Atomic bool is_over;

static void
on_signal(int number)
{
    (void)number;
    signals++;
}

static int
run_signal(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)site_malloc(100);
    if (sigaction(SIGUSR2, &action, NULL) != 0)
        return 1;
    raise(SIGUSR2);
    printf("signals %d\n", (int)signals);
    return 0;
}

static void *
be_busy(void *context)
{
    struct block blocks[16] = {{0}};

    for (size_t i = 0; !atomic_load(&is_over); i++) {
        struct block *const block = &blocks[i % 16];

        if (block->address != NULL)
            sampled_release(block);
        *block = site_of_a_thread(1 + i % 1000);
        if (i % 5 == 0)
            *block = site_grow(*block);
    }
    for (size_t i = 0; i < 16; i++)
        if (blocks[i].address != NULL)
            sampled_release(&blocks[i]);
    return context;
}

static int
run_until_told(int threads_count)
{
    pthread_t threads[8];

    for (size_t i = 0; i < 8; i++)
        (void)site_malloc(1000 + i);
    for (int i = 0; i < threads_count; i++)
        if (pthread_create(&threads[i], NULL, be_busy, NULL) != 0)
            return 1;
    printf("process %ld\n", (long)getpid());
    fflush(stdout);
    while (getchar() != '\n' && !feof(stdin))
        continue;
    atomic_store(&is_over, true);
    for (int i = 0; i < threads_count; i++)
        pthread_join(threads[i], NULL);
    sampled_print_truth();
    return 0;
}

/* Defined by the profiler, if that is preloaded. */
void prof_malloc_rate_set(int64_t rate_bytes) __attribute__((weak));

/*
 * A thread has drawn a gap. Once the rate is 1 it must sample every allocation,
 * without waiting for the end of that gap; nor may the end of an old gap count
 * as a sample. At the last rate no sample is expected: one run in a million has
 * one.
 */
static int
run_rates(void)
{
    if (prof_malloc_rate_set == NULL)
        return 1;
    for (int round = 0; round < 3; round++) {
        prof_malloc_rate_set(1);
        for (size_t i = 0; i < BLOCKS; i++)
            (void)site_malloc(100 + i);
        prof_malloc_rate_set(0);
        for (size_t i = 0; i < BLOCKS; i++)
            (void)site_calloc(100 + i);
        prof_malloc_rate_set(INT64_C(1) << 40);
        for (size_t i = 0; i < BLOCKS; i++)
            (void)site_calloc(2000);
    }
    sampled_print_truth();
    return 0;
}

/* returns: the depth */
static uint64_t
go_deep(uint64_t frames)
{
    if (frames == 0) {
        (void)site_malloc(1000);
        return 0;
    }
    return 1 + go_deep(frames - 1);
}

int
main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";
    const uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

    if (strcmp(mode, "heap") == 0)
        return run_heap(argc > 2);
    if (strcmp(mode, "rates") == 0)
        return run_rates();
    if (strcmp(mode, "threads") == 0)
        return run_threads();
    if (strcmp(mode, "many") == 0 && argc > 3)
        return run_many(number, (size_t)strtoull(argv[3], NULL, 10));
    if (strcmp(mode, "children") == 0 && argc > 3)
        return run_children(number, (size_t)strtoull(argv[3], NULL, 10));
    if (strcmp(mode, "fork") == 0)
        return run_fork();
    if (strcmp(mode, "forked-by-thread") == 0)
        return run_forked_by_thread();
    if (strcmp(mode, "losses") == 0)
        return sampled_lose();
    if (strcmp(mode, "exec") == 0) {
        (void)site_malloc(1000);
        return execl(argv[0], argv[0], "heap", (char *)NULL);
    }
    if (strcmp(mode, "mutex") == 0 && number > 0 && number <= 64)
        return hold_the_lock(number);
    if (strcmp(mode, "cpu") == 0)
        return run_cpu();
    if (strcmp(mode, "signal") == 0)
        return run_signal();
    if (strcmp(mode, "wait") == 0 || strcmp(mode, "busy") == 0)
        return run_until_told(strcmp(mode, "busy") == 0 ? 8 : 0);
    if (strcmp(mode, "deep") == 0)
        return go_deep(number) == number ? 0 : 1;
    if (strcmp(mode, "status") == 0)
        return (int)number;
    return 2;
}
