/*
 * subject_fork.c -- a real fork(), for subjects that support it. The child is
 * judged as at the end of a run: it reads the subject, frees all live objects,
 * and reads again. It reports its breach through a pipe; then the parent
 * continues the run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/instruments/instrument_subject.h"
#include "props/judge/judge_internal.h"
#include "props/judge/subject_parts.h"

enum { CHILD_SECONDS = 5 }; /* if the parent has no limit */

static void
learn(struct subject_judge *judge, struct truth_entry fact, bool is_child)
{
    fact.flag = is_child;
    sim_subject_forked(judge->judge->world, fact.proc, is_child);
    subject_model_learn(&judge->model, &fact);
}

static void
be_child(struct subject_judge *judge, const struct truth_entry *fact,
         void (*judge_child)(struct subject_judge *judge), int pipe,
         uint32_t seconds)
{
    const struct props_breach *breach = &judge->judge->breach;
    bool written;

    /* A second more than the parent's, so that if both hang the parent ends
     * first. */
    alarm(seconds > 0 ? seconds + 1 : CHILD_SECONDS);
    learn(judge, *fact, true);
    judge->truths_seen++;
    judge_child(judge);
    written = write(pipe, breach, sizeof *breach) == sizeof *breach;
    _exit(written ? 0 : 1);
}

/* returns: false if the child reported nothing */
static bool
hear_child(int pipe, struct props_breach *breach)
{
    size_t have = 0;

    while (have < sizeof *breach) {
        const ssize_t got =
            read(pipe, (char *)breach + have, sizeof *breach - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

static void
wait_for_child(struct subject_judge *judge, pid_t child, int pipe)
{
    struct props_breach breach;
    const bool reported = hear_child(pipe, &breach);
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!reported && WIFSIGNALED(status))
        subject_breach(judge, PROPS_F1, "the child was ended by signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (!reported)
        subject_breach(judge, PROPS_F1, "the child exited by itself");
    else if (breach.property != PROPS_NONE)
        judge_breach(judge->judge, breach.property, "%s", breach.text);
}

void
subject_fork(struct subject_judge *judge, const struct truth_entry *fact,
             void (*judge_child)(struct subject_judge *judge))
{
    const uint32_t seconds = alarm(0);
    int ends[2];
    pid_t child;

    alarm(seconds);

    (void)fflush(NULL);
    if (pipe(ends) != 0) {
        subject_breach(judge, PROPS_D1, "no pipe: %s", strerror(errno));
        return;
    }
    child = fork();
    if (child == 0)
        be_child(judge, fact, judge_child, ends[1], seconds);
    (void)close(ends[1]);
    if (child < 0)
        subject_breach(judge, PROPS_D1, "no process: %s", strerror(errno));
    learn(judge, *fact, false);
    if (child > 0) {
        wait_for_child(judge, child, ends[0]);
        props_cover_hit(judge->judge->cover, COVER_SUBJECT_FORK);
    }
    (void)close(ends[0]);
}
