/*
 * barred_program.c -- a program that the preloaded libraries do not reach, or
 * that forbids them system calls: props/test/cli/test_barred.sh.
 *
 * usage: barred_program allocate         100 blocks of 77 bytes; prints its ids
 *        barred_program execute PROG...  forks; the child executes PROG
 *        barred_program confine          forbids itself to open files, to make
 *                                        sockets and threads, on pain of death,
 *                                        and allocates; so does its child
 *        barred_program take-timer       has SIGPROF and ITIMER_PROF to itself
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 100, BYTES = 77, BURN = 30000000 };

static void *blocks[2 * BLOCKS];

static __attribute__((noinline)) void
allocate_before(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(BYTES);
}

static __attribute__((noinline)) void
allocate_after(void)
{
    for (size_t i = BLOCKS; i < 2 * BLOCKS; i++)
        blocks[i] = malloc(BYTES);
}

/* returns: the child's exit code, 128 + the signal that ended it */
static int
end_of(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int
execute(char **words)
{
    const pid_t child = fork();

    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    return end_of(child);
}

#define LOAD(field) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define KILL_IF(number)                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* Calls by which a thread is begun, a file opened or a socket made. */
static bool
confine(void)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        KILL_IF(SYS_openat),
        KILL_IF(SYS_socket),
        KILL_IF(SYS_clone3),
        KILL_IF(SYS_renameat),
        KILL_IF(SYS_accept4),
        /* clone() of a thread, not of a process */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {
        .len = sizeof filter / sizeof *filter,
        .filter = filter,
    };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static int
run_confined(void)
{
    pid_t child;

    allocate_before();
    if (!confine()) {
        puts("no seccomp here");
        return 77;
    }
    allocate_after();
    child = fork();
    if (child == 0) {
        allocate_after();
        exit(5);
    }
    printf("child %d\n", end_of(child));
    return 0;
}

static void
on_tick(int number)
{
    (void)number;
}

static int
take_timer(void)
{
    const struct itimerval timer = {{0, 700}, {0, 700}};
    volatile long burned = 0;

    allocate_before();
    signal(SIGPROF, on_tick);
    if (setitimer(ITIMER_PROF, &timer, NULL) != 0)
        return 2;
    while (burned < BURN)
        burned++;
    return 0;
}

int
main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "execute") == 0 && argc > 2)
        return execute(argv + 2);
    if (strcmp(mode, "confine") == 0)
        return run_confined();
    if (strcmp(mode, "take-timer") == 0)
        return take_timer();
    if (strcmp(mode, "allocate") != 0)
        return 2;
    allocate_before();
    printf("user %ld, by right of %ld\n", (long)getuid(), (long)geteuid());
    return 3;
}
