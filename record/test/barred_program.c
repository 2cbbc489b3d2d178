/*
 * barred_program.c -- a program that preloaded libraries do not reach, or whose
 * seccomp filter forbids them system calls (record/test/test_barred.sh).
 *
 * usage: barred_program allocate         100 blocks of 77 bytes; prints its ids
 *        barred_program execute PROG...  forks; the child executes PROG
 *        barred_program confine          confines itself: to open a file or to
 *                                        make a socket or thread will kill it;
 *                                        then allocates; so does its child
 *        barred_program unconfined       fails to confine itself; a vfork()ed
 *                                        child succeeds; forks a child, which
 *                                        allocates, and another, which confines
 *                                        itself
 *        barred_program rights CALL...   makes calls that change its rights;
 *                                        prints how many threads it then has
 *        barred_program cancelled        changes its rights in a thread that is
 *                                        to be cancelled
 *        barred_program asked            asks its profiler for files, makes the
 *                                        agent end and begin again, and checks
 *                                        that the new one writes them, too
 *        barred_program take-timer       uses SIGPROF and ITIMER_PROF itself
 *
 * build: as=barred_program
 * build: as=static_program ldflags=-static
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BLOCKS = 100,
    BYTES = 77,
    BURN = 30000000,
    LOOKS = 20000, /* 20 s */
    LOOK_US = 1000
};

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

/* Forbid the calls by which a thread is begun, a file opened or a socket
 * made. */
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

/* returns: how many threads the process has; a profiler's agent is one */
static int
count_threads(void)
{
    struct stat tasks;

    return stat("/proc/self/task", &tasks) == 0 ? (int)tasks.st_nlink - 2 : -1;
}

/*
 * First call seccomp as programs do that only ask whether there are filters:
 * the address is wrong. The last child does what precedes an exec.
 */
static int
run_unconfined(void)
{
    pid_t child;

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == 0)
        return 2;
    child = vfork();
    if (child == 0) {
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(0);
    }
    if (end_of(child) != 0)
        return 2;
    child = fork();
    if (child == 0) {
        allocate_after();
        exit(5);
    }
    printf("child %d\n", end_of(child));
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(count_threads());
    }
    printf("child of %d threads\n", end_of(child));
    return 0;
}

/* ---- rights ---- */

int capset(void *header, const void *data); /* of no libc header */

/* Set the capabilities to those that the process has already. */
static int
set_capabilities(void)
{
    struct __user_cap_header_struct header = {.version =
                                                  _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    return syscall(SYS_capget, &header, data) == 0 ? capset(&header, data) : -1;
}

static int
change_rights(const char *call)
{
    if (strcmp(call, "no-new-privs") == 0)
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(call, "keepcaps") == 0)
        return prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    if (strcmp(call, "securebits") == 0)
        return prctl(PR_SET_SECUREBITS, prctl(PR_GET_SECUREBITS), 0, 0, 0);
    if (strcmp(call, "capset") == 0)
        return set_capabilities();
    if (strcmp(call, "setns") == 0)
        return setns(-1, CLONE_NEWUSER);
    if (strcmp(call, "unshare") == 0)
        return unshare(CLONE_NEWUSER);
    return 2;
}

/* A process with an agent has two threads. */
static int
change_all_rights(char **calls)
{
    for (; *calls != NULL; calls++) {
        int status;
        int threads;

        allocate_before();
        status = change_rights(*calls) == 0 ? 0 : errno;
        threads = count_threads();
        printf("%s: %d", *calls, status);
        if (strcmp(*calls, "no-new-privs") != 0)
            printf(", %d threads", threads);
        puts("");
    }
    return 0;
}

static void *
change_cancelled(void *went_on)
{
    pthread_cancel(pthread_self());
    *(bool *)went_on = change_rights("keepcaps") == 0;
    return NULL;
}

static int
run_cancelled(void)
{
    bool went_on = false;
    pthread_t thread;

    allocate_before();
    if (pthread_create(&thread, NULL, change_cancelled, &went_on) != 0 ||
        pthread_join(thread, NULL) != 0)
        return 2;
    printf("went on: %d\n", went_on);
    return 0;
}

/* ---- its agent ---- */

/* returns: false if the file does not appear within 20 s */
static bool
await_file(const char *path)
{
    for (int i = 0; i < LOOKS; i++) {
        if (access(path, F_OK) == 0)
            return true;
        usleep(LOOK_US);
    }
    return false;
}

/* Ask the agent for its status. It writes the files it was asked for before it
 * replies. */
static bool
await_answer(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length =
        snprintf(&address.sun_path[1], sizeof address.sun_path - 1,
                 "profsim-profile-%ld", (long)getpid());
    const socklen_t bytes =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) +
        (socklen_t)length;

    for (int i = 0; i < LOOKS; i++) {
        const int agent = socket(AF_UNIX, SOCK_STREAM, 0);
        char answer[2];
        const bool is_there =
            connect(agent, (struct sockaddr *)&address, bytes) == 0 &&
            write(agent, "status\n", 7) == 7 && read(agent, answer, 2) == 2;

        close(agent);
        if (is_there)
            return true;
        usleep(LOOK_US);
    }
    return false;
}

/* Without the profiler the program has no agent, and no files are expected. */
static int
run_requested(void)
{
    const char *const folder = getenv("PROFSIM_PROFILE_FOLDER");
    bool is_written = false;

    allocate_before();
    if (folder != NULL) {
        char path[512];

        snprintf(path, sizeof path, "%s/%ld.heap.pb", folder, (long)getpid());
        raise(SIGUSR2);
        if (!await_file(path) || !await_answer() || unlink(path) != 0 ||
            change_rights("keepcaps") != 0)
            return 2;
        allocate_after();
        if (!await_answer())
            return 2;
        is_written = access(path, F_OK) == 0;
    }
    printf("written again: %d\n", is_written);
    return 0;
}

/* ---- its timer ---- */

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
    if (strcmp(mode, "unconfined") == 0)
        return run_unconfined();
    if (strcmp(mode, "rights") == 0)
        return change_all_rights(argv + 2);
    if (strcmp(mode, "asked") == 0)
        return run_requested();
    if (strcmp(mode, "cancelled") == 0)
        return run_cancelled();
    if (strcmp(mode, "take-timer") == 0)
        return take_timer();
    if (strcmp(mode, "allocate") != 0)
        return 2;
    allocate_before();
    printf("user %ld, by right of %ld\n", (long)getuid(), (long)geteuid());
    return 3;
}
