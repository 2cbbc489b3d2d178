/* hang.c -- see hang.h. */
#include "record/test/hangs/hang.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 8, BLOCKS_MAX = 64 };

static char itself[PATH_MAX]; /* the program's path */
static char folder[PATH_MAX]; /* its folder, with the slash */
static char **arguments;
static const char *name;
static unsigned seconds;
static _Atomic uint32_t round_number;

static pthread_t threads[THREADS_MAX];
static uint32_t threads_count;
static void (*_Atomic work)(void);

static void
say(const char *text)
{
    const ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written;
}

static void
on_alarm(int number)
{
    char digits[12];
    size_t at = sizeof digits - 1;
    uint32_t rest = atomic_load(&round_number);

    (void)number;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    say(name);
    say(": hangs in round ");
    say(&digits[at]);
    say("\n");
    _exit(HANG_EXIT_HUNG);
}

uint32_t
hang_begin(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const ssize_t bytes = readlink("/proc/self/exe", itself, sizeof itself - 1);
    char *slash;
    int rounds;

    memcpy(folder, itself, sizeof folder);
    if (argc < 3 || bytes <= 0 || (slash = strrchr(folder, '/')) == NULL) {
        say("usage: PROGRAM ROUNDS SECONDS\n");
        exit(2);
    }
    slash[1] = '\0';
    arguments = argv;
    name = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
    rounds = atoi(argv[1]);
    seconds = (unsigned)atoi(argv[2]);
    sigaction(SIGALRM, &action, NULL);
    hang_watch();
    return rounds > 0 ? (uint32_t)rounds : 1;
}

void
hang_round(void)
{
    atomic_fetch_add(&round_number, 1);
    hang_watch();
}

/* Measures real time: the kernel counts a program's processor time in whole
 * ticks, and not what it does itself for the program. */
void
hang_interrupt(uint32_t round)
{
    static timer_t timer;
    static bool is_made;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGVTALRM};
    const struct itimerspec time = {
        .it_value = {.tv_nsec = 1000 * (20 + (long)(round * 37 % 400))}};

    if (!is_made)
        is_made = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    hang_must(is_made && timer_settime(timer, 0, &time, NULL) == 0, "no timer");
}

void
hang_watch(void)
{
    alarm(seconds);
}

void
hang_must(bool holds, const char *what)
{
    if (holds)
        return;
    say(name);
    say(": ");
    say(what);
    say("\n");
    _exit(HANG_EXIT_WRONG);
}

void
hang_allocate(uint32_t blocks)
{
    void *live[BLOCKS_MAX] = {NULL};
    void *aligned;

    for (uint32_t i = 0; i < blocks; i++) {
        void **const at = &live[i % BLOCKS_MAX];

        if (*at == NULL)
            *at = i % 3 == 0 ? calloc(i % 7 + 1, 24) : malloc(i % 512 + 1);
        else if (i % 5 == 0)
            *at = realloc(*at, i % 900 + 1);
        else {
            free(*at);
            *at =
                posix_memalign(&aligned, 64, i % 300 + 1) == 0 ? aligned : NULL;
        }
    }
    for (uint32_t i = 0; i < BLOCKS_MAX; i++)
        free(live[i]);
}

static void *
run(void *context)
{
    void (*function)(void);

    (void)context;
    while ((function = atomic_load(&work)) != NULL)
        function();
    return NULL;
}

void
hang_threads_begin(uint32_t count, void (*function)(void))
{
    sigset_t all;
    sigset_t before;

    atomic_store(&work, function);
    sigfillset(&all);
    sigdelset(&all, SIGPROF); /* used by profilers */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (threads_count < count && threads_count < THREADS_MAX) {
        hang_must(pthread_create(&threads[threads_count], NULL, run, NULL) == 0,
                  "no thread");
        threads_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
hang_threads_end(void)
{
    atomic_store(&work, NULL);
    while (threads_count > 0)
        pthread_join(threads[--threads_count], NULL);
}

void
hang_dump(void)
{
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    void (*heap_dump)(const char *);
    void *found = dlsym(RTLD_DEFAULT, "mallctl");

    memcpy(&mallctl, &found, sizeof found);
    if (mallctl != NULL)
        (void)mallctl("prof.dump", NULL, NULL, NULL, 0);
    found = dlsym(RTLD_DEFAULT, "HeapProfilerDump");
    memcpy(&heap_dump, &found, sizeof found);
    if (heap_dump != NULL && getenv("HEAPPROFILE") != NULL)
        heap_dump("asked");
    if (getenv("HANG_DUMPS_BY_SIGNAL") != NULL)
        kill(getpid(), SIGUSR2);
}

void
hang_wait(pid_t child)
{
    int status = 0;
    pid_t ended;

    hang_must(child > 0, "no child");
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    hang_must(ended == child, "the child is lost");
    if (WIFEXITED(status) && WEXITSTATUS(status) == HANG_EXIT_HUNG)
        on_alarm(SIGALRM);
    if (WIFSIGNALED(status)) {
        say(name);
        say(": a child is killed by a signal\n");
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
    }
    hang_must(WIFEXITED(status) && WEXITSTATUS(status) == 0,
              "a child exits with something else than 0");
}

void
hang_run_again(const char *argument)
{
    char *const again[] = {arguments[0], arguments[1], arguments[2],
                           (char *)(uintptr_t)argument, NULL};
    pid_t child = -1;

    hang_must(posix_spawn(&child, itself, NULL, NULL, again, environ) == 0,
              "no child");
    hang_wait(child);
}

void *
hang_open(const char *library)
{
    char path[PATH_MAX + 64];
    void *handle;

    (void)snprintf(path, sizeof path, "%s%s", folder, library);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    hang_must(handle != NULL, "the library does not load");
    return handle;
}
