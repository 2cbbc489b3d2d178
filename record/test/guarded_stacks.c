/*
 * guarded_stacks.c -- guards of small stacks, and of forks in signal handlers.
 */
#include "record/test/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    STACK_BYTES = 64 << 10,
    SMALL_STACK_BYTES = 8 << 10,
    PAINT = 0xa5,
    CHILD_WAIT_MS = 10000,
    TRAP_FLAG = 0x100,
};

/* ---- stacks ---- */

static ucontext_t caller_context;
static ucontext_t coroutine_context;
static void (*coroutine_body)(void);

static NOINLINE void
use_heap(void)
{
    void *volatile block = malloc(100);
    void *volatile zeroed = calloc(3, 100);
    void *volatile aligned = aligned_alloc(64, 128);

    block = realloc(block, 5000);
    free(block);
    free(zeroed);
    free(aligned);
}

static void
run_coroutine(void)
{
    coroutine_body();
    swapcontext(&coroutine_context, &caller_context);
}

/* Make a stack with an inaccessible page below it. */
static uint8_t *
make_stack(size_t bytes)
{
    uint8_t *const place = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (place == MAP_FAILED || mprotect(place, 4096, PROT_NONE) != 0)
        abort();
    memset(place + 4096, PAINT, bytes);
    return place + 4096;
}

static size_t
used_of(const uint8_t *stack, size_t bytes)
{
    size_t untouched = 0;

    while (untouched < bytes && stack[untouched] == PAINT)
        untouched++;
    return bytes - untouched;
}

/* returns: how many bytes of a stack the body uses */
static size_t
on_coroutine(void (*body)(void), size_t bytes)
{
    uint8_t *const stack = make_stack(bytes);

    coroutine_body = body;
    if (getcontext(&coroutine_context) != 0)
        abort();
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = bytes;
    coroutine_context.uc_link = NULL;
    makecontext(&coroutine_context, run_coroutine, 0);
    if (swapcontext(&caller_context, &coroutine_context) != 0)
        abort();
    return used_of(stack, bytes);
}

static void *
thread_on_coroutine(void *used)
{
    *(size_t *)used = on_coroutine(use_heap, STACK_BYTES);
    return NULL;
}

static void
use_heap_in_handler(int unused)
{
    (void)unused;
    use_heap();
}

static size_t
on_signal_stack(void)
{
    uint8_t *const stack = make_stack(STACK_BYTES);
    const stack_t given = {.ss_sp = stack, .ss_size = STACK_BYTES};
    const struct sigaction action = {.sa_handler = use_heap_in_handler,
                                     .sa_flags = SA_ONSTACK};

    if (sigaltstack(&given, NULL) != 0 ||
        sigaction(SIGUSR1, &action, NULL) != 0 || raise(SIGUSR1) != 0)
        abort();
    return used_of(stack, STACK_BYTES);
}

static pid_t forked;

static void
fork_and_use_heap(void)
{
    forked = fork();
    if (forked == 0)
        use_heap();
}

static int
report_use(int to, const char *where, size_t bytes)
{
    return dprintf(to, "%s %zu\n", where, bytes) > 0 ? 0 : 1;
}

int
guarded_stacks(const char *output)
{
    const int to = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    pthread_t thread;
    size_t used = 0;
    int status = 1;

    if (to < 0)
        return guarded_complain(output, errno);
    use_heap(); /* the first use resolves the functions */
    report_use(to, "coroutine", on_coroutine(use_heap, STACK_BYTES));
    on_coroutine(use_heap, SMALL_STACK_BYTES);
    if (pthread_create(&thread, NULL, thread_on_coroutine, &used) != 0)
        return guarded_complain("thread", errno);
    pthread_join(thread, NULL);
    report_use(to, "thread", used);
    report_use(to, "signal", on_signal_stack());
    used = on_coroutine(fork_and_use_heap, STACK_BYTES);
    if (forked == 0)
        _exit(report_use(to, "child", used));
    waitpid(forked, &status, 0);
    return status;
}

/* ---- forks in handlers ---- */

static pid_t (*fork_of_handler)(void);
static volatile sig_atomic_t is_child;
static volatile sig_atomic_t rounds_done;
static int rounds_wanted;
static volatile sig_atomic_t rounds_failed;
static volatile sig_atomic_t last_failure; /* a status; -1: the child hung */
static _Atomic bool stop;

/* returns: the child's status, or -1 if it hung and was ended */
static int
wait_for(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int status;

    for (int i = 0; i < CHILD_WAIT_MS; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

/* Runs only in the thread that allocates, wherever that is interrupted. */
static void
fork_in_handler(int unused)
{
    const int saved_errno = errno;
    int status = 0;
    pid_t child;

    (void)unused;
    if (is_child || rounds_done >= rounds_wanted)
        return;
    child = fork_of_handler();
    if (child == 0)
        is_child = 1;
    else
        status = child > 0 ? wait_for(child) : -1;
    if (status != 0) {
        rounds_failed++;
        last_failure = status;
    }
    rounds_done += child != 0;
    errno = saved_errno;
}

static void *
allocate_until_stopped(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        guarded_allocate(100);
    return NULL;
}

/* Only the first thread gets SIGALRM. */
static void
mask_timer(int how)
{
    sigset_t timer;

    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    pthread_sigmask(how, &timer, NULL);
}

static void
start_timer(void)
{
    const struct sigaction action = {.sa_handler = fork_in_handler,
                                     .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = 211},
                                    .it_value = {.tv_usec = 211}};

    alarm(0);
    if (sigaction(SIGALRM, &action, NULL) != 0 ||
        setitimer(ITIMER_REAL, &often, NULL) != 0)
        abort();
}

static volatile long steps;
static volatile long stride;

/* The kernel's code in the process (vDSO) reads a clock again and again until
 * no clock tick comes in between. A fork there takes longer than a tick, so it
 * would never end. */
static bool
is_of_kernel(uintptr_t pc)
{
    const uintptr_t start = getauxval(AT_SYSINFO_EHDR);

    return start != 0 && pc - start < 4 * 4096;
}

/* Before an instruction: fork at every `stride`-th; the child runs on without
 * single steps. */
static void
fork_at_step(int unused, siginfo_t *info, void *context)
{
    ucontext_t *const at = context;
    const int saved_errno = errno;
    int status = 0;
    pid_t child;

    (void)unused;
    (void)info;
    if (!is_of_kernel((uintptr_t)at->uc_mcontext.gregs[REG_RIP]) &&
        ++steps % stride == 0 && !is_child && rounds_failed == 0) {
        child = fork_of_handler();
        rounds_done += child > 0;
        if (child == 0)
            is_child = 1;
        else
            status = child > 0 ? wait_for(child) : -1;
    }
    if (status != 0) {
        rounds_failed = 1;
        last_failure = status;
    }
    if (is_child || rounds_failed != 0)
        at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    errno = saved_errno;
}

/* Allocate and free at a stack that the recorder has not logged yet. */
static NOINLINE void
step_through_heap(void)
{
    void *volatile block;

    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG)
                     : "cc", "memory");
    block = malloc(48);
    free(block);
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG)
                     : "cc", "memory");
}

static int
wanted_rounds(void)
{
    const char *const rounds = getenv("GUARDED_ROUNDS");

    return rounds != NULL ? atoi(rounds) : 0;
}

/* Fork at every `stride`-th instruction, so that there are a few hundred
 * children. */
int
guarded_forks_everywhere(void)
{
    const struct sigaction action = {.sa_sigaction = fork_at_step,
                                     .sa_flags = SA_SIGINFO};
    const bool few = wanted_rounds() < 1000;
    const long first_stride = few ? 61 : 7;
    const long next_stride = few ? 11 : 3;

    fork_of_handler = fork;
    guarded_allocate(100);
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        abort();
    stride = first_stride;
    step_through_heap(); /* some 5,000 instructions under a recorder */
    if (!is_child) {
        stride = next_stride;
        step_through_heap(); /* the same stack again */
    }
    guarded_allocate(100);
    if (is_child)
        _exit(0);
    if (rounds_failed != 0) {
        guarded_complain("forked before instruction", steps);
        return guarded_complain("status of a child (-1: it hung)",
                                last_failure);
    }
    guarded_complain("forked", rounds_done);
    return steps > 100 ? 0 : guarded_complain("instructions", steps);
}

/*
 * Blocks are small enough for each thread's own cache. So libc's locks, which
 * fork() in a handler cannot repair, are not taken.
 */
int
guarded_forks(pid_t (*function)(void), int threads_count)
{
    const time_t start = time(NULL);
    pthread_t threads[2];

    rounds_wanted = wanted_rounds();
    if (rounds_wanted <= 0)
        return guarded_complain("GUARDED_ROUNDS", rounds_wanted);
    if (function == NULL)
        return guarded_complain("no such fork", 0);
    fork_of_handler = function;
    mask_timer(SIG_BLOCK);
    for (int i = 0; i < threads_count; i++)
        if (pthread_create(&threads[i], NULL, allocate_until_stopped, NULL) !=
            0)
            return guarded_complain("thread", i);
    guarded_allocate(100);
    start_timer();
    mask_timer(SIG_UNBLOCK);
    while (!is_child && rounds_failed == 0 && rounds_done < rounds_wanted &&
           time(NULL) < start + 100)
        guarded_allocate(1);
    if (is_child) {
        guarded_allocate(200);
        _exit(0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < threads_count; i++)
        pthread_join(threads[i], NULL);
    if (rounds_failed != 0) {
        guarded_complain("status of a child (-1: it hung)", last_failure);
        return guarded_complain("children that died or hung", rounds_failed);
    }
    return rounds_done == rounds_wanted
               ? 0
               : guarded_complain("rounds", rounds_done);
}
