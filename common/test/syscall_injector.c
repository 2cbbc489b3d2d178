/*
 * syscall_injector.c -- makes system calls of another process fail, by ptrace.
 *
 * The command stops at the beginning and at the end of each system call. To let
 * a call fail, the injector changes its number to one that does not exist, and
 * then replaces its result. A close() that fails is still made, because Linux
 * closes the descriptor even then. For a short write the count is reduced.
 */
#include "common/test/syscall_injector.h"

#if PROPS_SUPERVISES

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOPS_MAX = 1000000, DESCRIPTORS = 64, RUN_SECONDS = 60 };

struct command {
    pid_t pid;
    const struct props_fault *fault;
    struct props_injectd *result;
    uint64_t made; /* a bit for each descriptor of a file being made */
    bool inside;   /* in a system call */
    bool strikes;  /* this call is to fail */
    enum props_call call;
    int descriptor;
};

static bool
is_made(const struct command *c, unsigned long long descriptor)
{
    return descriptor < DESCRIPTORS && (c->made >> descriptor & 1) != 0;
}

/* Which of the calls that may be made to fail this is, or COUNT. */
static enum props_call
call_of(const struct command *c, const struct user_regs_struct *regs)
{
    switch (regs->orig_rax) {
    case SYS_openat:
        return (regs->rdx & O_CREAT) != 0 ? PROPS_CALL_OPEN : PROPS_CALL_COUNT;
    case SYS_write:
        return is_made(c, regs->rdi) ? PROPS_CALL_WRITE : PROPS_CALL_COUNT;
    case SYS_fsync:
        return is_made(c, regs->rdi) ? PROPS_CALL_FSYNC : PROPS_CALL_COUNT;
    case SYS_close:
        return is_made(c, regs->rdi) ? PROPS_CALL_CLOSE : PROPS_CALL_COUNT;
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
        return PROPS_CALL_RENAME;
    default:
        return PROPS_CALL_COUNT;
    }
}

static void
begin_call(struct command *c)
{
    struct user_regs_struct regs;

    c->inside = true;
    c->strikes = false;
    c->call = PROPS_CALL_COUNT;
    if (ptrace(PTRACE_GETREGS, c->pid, NULL, &regs) != 0)
        return;
    c->call = call_of(c, &regs);
    if (c->call == PROPS_CALL_COUNT)
        return;
    c->descriptor = (int)regs.rdi;
    c->result->calls[c->call]++;
    if (c->call != c->fault->call || c->result->calls[c->call] != c->fault->nth)
        return;
    if (c->fault->error == PROPS_CALL_SHORT && regs.rdx < 2)
        return;
    c->strikes = true;
    c->result->struck = true;
    if (c->fault->error == PROPS_CALL_SHORT)
        regs.rdx /= 2;
    else if (c->call != PROPS_CALL_CLOSE)
        regs.orig_rax = (unsigned long long)-1;
    ptrace(PTRACE_SETREGS, c->pid, NULL, &regs);
}

static void
end_call(struct command *c)
{
    struct user_regs_struct regs;

    c->inside = false;
    if (c->call == PROPS_CALL_COUNT ||
        ptrace(PTRACE_GETREGS, c->pid, NULL, &regs) != 0)
        return;
    if (c->strikes && c->fault->error != PROPS_CALL_SHORT) {
        regs.rax = (unsigned long long)-(long long)c->fault->error;
        ptrace(PTRACE_SETREGS, c->pid, NULL, &regs);
    }
    if (c->call == PROPS_CALL_OPEN && (long long)regs.rax >= 0 &&
        regs.rax < DESCRIPTORS)
        c->made |= UINT64_C(1) << regs.rax;
    if (c->call == PROPS_CALL_CLOSE && c->descriptor >= 0 &&
        c->descriptor < DESCRIPTORS)
        c->made &= ~(UINT64_C(1) << c->descriptor);
}

static void
be_command(char *const *argv)
{
    const int nowhere = open("/dev/null", O_RDWR);

    alarm(RUN_SECONDS);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(126);
    raise(SIGSTOP);
    execv(argv[0], argv);
    _exit(127);
}

/* Handle one stop of the command. returns: the signal with which to continue
 * it */
static int
on_stop(struct command *c, int status)
{
    const int signal = WSTOPSIG(status);

    if (signal != (SIGTRAP | 0x80))
        return signal == SIGTRAP ? 0 : signal; /* after exec; or its own */
    if (c->inside)
        end_call(c);
    else
        begin_call(c);
    return 0;
}

struct props_injectd
props_inject(char *const *argv, const struct props_fault *fault)
{
    struct props_injectd result = {.ran = false};
    struct command c = {.fault = fault, .result = &result};
    int status;

    c.pid = fork();
    if (c.pid == 0)
        be_command(argv);
    if (c.pid < 0 || waitpid(c.pid, &status, 0) != c.pid || !WIFSTOPPED(status))
        return result;
    ptrace(PTRACE_SETOPTIONS, c.pid, NULL,
           (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    ptrace(PTRACE_SYSCALL, c.pid, NULL, NULL);
    for (int stops = 0; stops < STOPS_MAX; stops++) {
        if (waitpid(c.pid, &status, 0) != c.pid)
            return result;
        if (!WIFSTOPPED(status)) {
            result.ran = true;
            result.status = status;
            return result;
        }
        ptrace(PTRACE_SYSCALL, c.pid, NULL,
               (void *)(intptr_t)on_stop(&c, status));
    }
    kill(c.pid, SIGKILL);
    waitpid(c.pid, &status, 0);
    return result;
}

#else

struct props_injectd
props_inject(char *const *argv, const struct props_fault *fault)
{
    (void)argv;
    (void)fault;
    return (struct props_injectd){.ran = false};
}

#endif
