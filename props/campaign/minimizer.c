/* minimizer.c -- make an attempt, and tell whether it fails in the same way. */
#include "props/campaign/minimizer.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/judge/faults.h"

/* Once a subject has hung, attempts get less time, as each may hang again. */
enum { CRASH_SECONDS = 20, HUNG_SECONDS = 2 };

static unsigned
attempt_seconds(const struct props_minimizer *minimizer)
{
    if (minimizer->apart == NULL)
        return CRASH_SECONDS;
    return minimizer->failure->crashed ? HUNG_SECONDS : PROPS_SUBJECT_SECONDS;
}

bool
props_minimizer_dies(struct props_minimizer *minimizer, props_attempt *attempt,
                     void *context)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(attempt_seconds(minimizer));
        close(STDERR_FILENO); /* the message was printed before */
        attempt(context);
        _exit(0);
    }
    if (pid < 0 || !props_minimizer_wait(pid, &status))
        return false;
    minimizer->failure->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/*
 * Is it the same failure? A failure of a subject may also turn into the plain
 * property, if what came before did not matter.
 */
static bool
is_same(struct props_minimizer *minimizer)
{
    const enum props_property got = minimizer->run->judge.breach.property;
    const bool is_special =
        minimizer->property >= PROPS_A7 && minimizer->property <= PROPS_G1;
    const enum props_property below =
        minimizer->property == PROPS_O3 ? PROPS_W1 : minimizer->property;
    const bool is_plainer = (is_special || minimizer->property == PROPS_O3) &&
                            got >= PROPS_A2 && got < below;

    if (is_plainer)
        minimizer->property = got;
    return got == minimizer->property;
}

bool
props_minimizer_try(struct props_minimizer *minimizer, props_attempt *attempt,
                    void *context)
{
    return minimizer->apart != NULL
               ? props_minimizer_apart(minimizer, attempt, context)
               : attempt(context);
}

bool
props_minimizer_fails(struct props_minimizer *minimizer, props_attempt *attempt,
                      void *context)
{
    minimizer->failure->runs++;
    if (minimizer->failure->crashed)
        return props_minimizer_dies(minimizer, attempt, context);
    return !props_minimizer_try(minimizer, attempt, context) &&
           is_same(minimizer);
}

void
props_minimizer_end(struct props_minimizer *minimizer, props_attempt *attempt,
                    void *context)
{
    const struct props_coverage before = minimizer->run->cover;

    minimizer->failure->unstable |=
        !props_minimizer_fails(minimizer, attempt, context);
    minimizer->failure->faults =
        props_faults_met(&before, &minimizer->run->cover);
    minimizer->failure->breach = minimizer->run->judge.breach;
}

void
props_minimizer_header(const struct props_minimizer *minimizer, char *header,
                       size_t header_bytes)
{
    if (minimizer->failure->crashed)
        snprintf(header, header_bytes, "ends the process\nfound by: %s\n",
                 minimizer->command);
    else
        snprintf(header, header_bytes, "%s broken: %s\n%s\nfound by: %s\n",
                 props_property_id(minimizer->property),
                 props_property_sentence(minimizer->property),
                 minimizer->failure->breach.text, minimizer->command);
}
