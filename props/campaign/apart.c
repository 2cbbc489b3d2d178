/*
 * apart.c -- make each attempt to shrink in a child process, because a faulty
 * subject may crash or hang in a smaller run. The choices and the crash log are
 * in shared memory anyway; all other results come back in struct props_apart.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/campaign/minimizer.h"

struct props_apart {
    bool holds;
    struct props_breach breach;
    struct props_coverage cover;
    struct sim_choices choices;
    uint32_t events_count;
};

bool
props_minimizer_share(struct props_minimizer *minimizer)
{
    minimizer->apart =
        mmap(NULL, sizeof *minimizer->apart, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (minimizer->apart != MAP_FAILED)
        return true;
    minimizer->apart = NULL;
    return false;
}

void
props_minimizer_unshare(struct props_minimizer *minimizer)
{
    if (minimizer->apart != NULL)
        munmap(minimizer->apart, sizeof *minimizer->apart);
    minimizer->apart = NULL;
}

bool
props_minimizer_wait(pid_t pid, int *status)
{
    pid_t ended;

    do
        ended = waitpid(pid, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == pid;
}

bool
props_minimizer_apart(struct props_minimizer *minimizer, props_attempt *attempt,
                      void *context)
{
    struct props_apart *apart = minimizer->apart;
    struct props_run *run = minimizer->run;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(PROPS_SUBJECT_SECONDS);
        close(STDERR_FILENO);
        apart->holds = attempt(context);
        apart->breach = run->judge.breach;
        apart->cover = run->cover;
        apart->choices = minimizer->choices;
        apart->events_count = run->events_count;
        _exit(0);
    }
    if (pid < 0 || !props_minimizer_wait(pid, &status) || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        return true; /* it fails in another way */
    run->judge.breach = apart->breach;
    run->cover = apart->cover;
    run->events_count = apart->events_count;
    minimizer->choices = apart->choices;
    return apart->holds;
}
