/* child.c -- see child.h. */
#include "explore/command/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/command/complaint.h"

static volatile pid_t running;                /* the command, or 0 */
static volatile sig_atomic_t was_reported_by; /* a signal to end, or 0 */

/* A signal that ends this command also ends what it runs or would run next;
 * then its folder is removed. */
static void
pass_on(int signal)
{
    was_reported_by = signal;
    if (running > 0)
        kill(running, signal);
}

/* Wait for what a compiler that was told to end has left behind: a linker still
 * has files in the folder and next to it. */
static void
await_orphans(void)
{
    const struct timespec tick = {.tv_nsec = 10000000};

    for (int i = 0; i < 500 && waitpid(-1, NULL, WNOHANG) >= 0; i++)
        nanosleep(&tick, NULL);
}

int
cli_child_run(char **command)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    enum { OWN = 2, COUNT = 4 }; /* a terminal sends the first two to both */
    struct sigaction before[COUNT] = {{.sa_handler = SIG_DFL}};
    sigset_t held, mask;
    int status;

    sigemptyset(&held);
    for (int i = 0; i < COUNT; i++) {
        struct sigaction during = {.sa_handler = i < OWN ? SIG_IGN : pass_on};

        sigaction(signals[i], &during, i < OWN ? &before[i] : NULL);
        sigaddset(&held, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &mask);
    status =
        was_reported_by != 0 ? was_reported_by : -1; /* as if it had ended it */
    fflush(NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    running = was_reported_by == 0 ? fork() : -1;
    if (running == 0) {
        for (int i = 0; i < COUNT; i++)
            sigaction(signals[i], &before[i], NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        execvp(command[0], command);
        cli_usage("%s: %s", command[0], strerror(errno));
        _exit(CLI_NOT_FOUND);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    while (running > 0 && waitpid(running, &status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    await_orphans();
    for (int i = 0; i < OWN; i++)
        sigaction(signals[i], &before[i], NULL);
    return status;
}
