/*
 * run.c -- try each mutant with one judge after the other, until a judge
 * catches it.
 *
 * A job tries one mutant. A judge that takes much longer than ten times its
 * usual time counts as hanging, and so catches the mutant. Kernels are an
 * exception: a harmless mutant may give them more orderings to try.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lines/trial.h"

struct job {
    struct process process;
    struct mutant *mutant; /* the mutant being tried; NULL: none */
    size_t unit;           /* the judge that runs */
    unsigned char *page;
    uint32_t *runs;
};

struct progress {
    size_t chosen;
    size_t done;
    size_t survived;
    uint64_t begun_ms;
    uint64_t told_ms;
    bool quiet;
};

static void
tell(struct progress *progress)
{
    const uint64_t now = trial_now_ms();
    const uint64_t spent = now - progress->begun_ms;

    if (now - progress->told_ms < (progress->quiet ? 30000 : 1000))
        return;
    progress->told_ms = now;
    fprintf(
        stderr, "%s%zu of %zu mutants, %zu survive, about %llu s left%s",
        progress->quiet ? "" : "\r", progress->done, progress->chosen,
        progress->survived,
        (unsigned long long)(progress->done == 0
                                 ? 0
                                 : spent * (progress->chosen - progress->done) /
                                       progress->done / 1000),
        progress->quiet ? "\n" : "   ");
}

/* Find the next judge that reaches the mutant. returns: false if there is
 * none */
static bool
start_next(const struct trial *trial, struct job *job, size_t from,
           uint32_t slot)
{
    for (size_t i = from; i < trial->units_count; i++) {
        if (trial->units[i]->left_out ||
            (trial->units[i]->met[job->mutant->spot] == 0 &&
             (job->mutant->other == NULL ||
              trial->units[i]->met[job->mutant->other->spot] == 0)))
            continue;
        job->unit = i;
        job->mutant->tried++;
        *job->runs = 0;
        trial_start(trial, &job->process, trial->units[i], job->mutant, slot);
        return true;
    }
    return false;
}

/* Read what a world wrote: PROPERTY SEED. */
static void
read_worlds(const struct trial *trial, struct mutant *mutant, uint32_t slot)
{
    char *path = trial_path(trial, slot, "output");
    FILE *file = fopen(path, "r");
    char line[512];
    char property[sizeof mutant->property];

    if (file != NULL && fgets(line, sizeof line, file) != NULL &&
        sscanf(line, "%7s %u", property, &mutant->runs) == 2)
        memcpy(mutant->property, property, sizeof property);
    if (file != NULL)
        fclose(file);
    free(path);
}

static bool
is_late(const struct job *job, int status)
{
    return job->process.timed_out ||
           (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM);
}

static void catch (const struct trial *trial, struct job *job, int status,
                   uint32_t slot)
{
    struct mutant *mutant = job->mutant;

    mutant->by = trial->units[job->unit];
    mutant->runs = *job->runs;
    if (is_late(job, status))
        mutant->verdict = VERDICT_HANGS;
    else if (WIFSIGNALED(status))
        mutant->verdict = VERDICT_CRASHED;
    else
        mutant->verdict = VERDICT_FAILED;
    if (mutant->verdict == VERDICT_FAILED && mutant->by->worlds)
        read_worlds(trial, mutant, slot);
}

/* Handle the end of a judge. */
static void
conclude(const struct trial *trial, struct job *job, int status, uint32_t slot,
         struct progress *progress)
{
    const struct unit *unit = trial->units[job->unit];

    kill(-job->process.pid, SIGKILL); /* and what it may have started */
    trial_must_have_started(unit, status);
    if (status != 0 && !(unit->explores && is_late(job, status))) {
        catch (trial, job, status, slot);
    } else if (start_next(trial, job, job->unit + 1, slot)) {
        return;
    } else {
        job->mutant->verdict = VERDICT_SURVIVES;
        progress->survived++;
    }
    trial_write(trial, job->mutant);
    job->mutant = NULL;
    progress->done++;
}

static struct mutant *
next_mutant(struct trial *trial, size_t *next)
{
    while (*next < trial->mutants_count) {
        struct mutant *mutant = &trial->mutants[(*next)++];

        if (mutant->chosen)
            return mutant;
    }
    return NULL;
}

static void
look_at_clock(const struct trial *trial, struct job *job)
{
    const struct unit *unit = trial->units[job->unit];

    if (!job->process.timed_out &&
        trial_now_ms() - job->process.begun_ms > 10 * unit->wall_ms + 5000) {
        job->process.timed_out = true;
        kill(-job->process.pid, SIGKILL);
        kill(job->process.pid, SIGKILL);
    }
}

static void
fill(struct trial *trial, struct job *job, size_t *next, uint32_t slot,
     struct progress *progress)
{
    while (job->mutant == NULL) {
        job->mutant = next_mutant(trial, next);
        if (job->mutant == NULL)
            return;
        if (start_next(trial, job, 0, slot))
            return;
        job->mutant->verdict = VERDICT_UNMET;
        trial_write(trial, job->mutant);
        job->mutant = NULL;
        progress->done++;
        progress->survived++;
    }
}

void
trial_run(struct trial *trial)
{
    static struct job jobs[16];
    struct progress progress = {.begun_ms = trial_now_ms(),
                                .told_ms = trial_now_ms(),
                                .quiet = !isatty(2)};
    const struct timespec tick = {0, 20000000};
    sigset_t child;
    size_t next = 0;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    for (size_t i = 0; i < trial->mutants_count; i++)
        progress.chosen += trial->mutants[i].chosen;
    for (uint32_t i = 0; i < trial->jobs; i++) {
        jobs[i].page = trial_page(trial, i);
        jobs[i].runs = (uint32_t *)(void *)&jobs[i].page[SWITCH_MUTANTS_MAX];
    }
    while (progress.done < progress.chosen) {
        int status;
        int pid;

        for (uint32_t i = 0; i < trial->jobs; i++)
            fill(trial, &jobs[i], &next, i, &progress);
        pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0)
            sigtimedwait(&child, NULL, &tick);
        for (uint32_t i = 0; i < trial->jobs; i++) {
            if (jobs[i].mutant == NULL)
                continue;
            if (pid > 0 && jobs[i].process.pid == pid)
                conclude(trial, &jobs[i], status, i, &progress);
            else
                look_at_clock(trial, &jobs[i]);
        }
        tell(&progress);
    }
    sigprocmask(SIG_UNBLOCK, &child, NULL);
}
