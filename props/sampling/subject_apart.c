/* subject_apart.c -- see subject_apart.h. */
#include "props/sampling/subject_apart.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/rng.h"

enum { SECONDS_MAX = 120 }; /* after that the subject counts as hanging */

#define ERRORS_ACCEPTED 7.5
#define ERRORS_NOTICED  11.5

/* ---- figures ---- */

void
props_subject_add(struct subject_figure *figure, double found)
{
    figure->sum += found;
    figure->squares += found * found;
}

bool
props_subject_weigh(const struct subject_figure *figure, uint32_t runs,
                    struct subject_result *result, double *mean, double *error)
{
    const double n = (double)runs;
    const double shown = figure->sum / n;
    const double variance = figure->squares / n - shown * shown;
    const bool varies = variance > 1e-10 * shown * shown; /* not by rounding */
    const double errors = varies ? sqrt(variance / n) : 0;
    const double off = fabs(shown - figure->truth) / figure->truth;

    if (figure->truth == 0)
        return true;
    *mean = shown / figure->truth;
    *error = errors / figure->truth;
    result->worst = fmax(result->worst, off);
    result->noticed = fmax(result->noticed, ERRORS_NOTICED * *error);
    result->failed |=
        !(off * figure->truth <= ERRORS_ACCEPTED * errors + 1e-9 * n);
    return !result->failed;
}

void
props_subject_mean(char *text, size_t text_bytes, double mean, double error)
{
    if (error > 0)
        snprintf(text, text_bytes, "%.4f of the truth, standard error %.2g",
                 mean, error);
    else
        snprintf(text, text_bytes, "%.4f of the truth by every run", mean);
}

uint64_t
props_subject_print(const double *found, int count)
{
    uint64_t hash = 0;

    for (int i = 0; i < count; i++) {
        uint64_t bits;

        memcpy(&bits, &found[i], sizeof bits);
        hash = sim_hash_step(hash, bits);
    }
    return hash;
}

static int
compare_prints(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void
props_subject_withdraw(uint64_t *prints, uint32_t runs,
                       struct subject_result *result)
{
    uint32_t different = 1;

    qsort(prints, runs, sizeof *prints, compare_prints);
    for (uint32_t i = 1; i < runs; i++)
        different += prints[i] != prints[i - 1];
    if (different >= runs / 2)
        return;
    result->failed = false;
    result->repeats = true;
    snprintf(result->text, sizeof result->text,
             "not judged: its draws do not depend on random(); of %d runs with "
             "other random numbers %d differ%s",
             (int)runs, (int)different, different == 1 ? "s" : "");
}

/* ---- the process ---- */

static void
be_child(const struct subject *subject, subject_try *try_all,
         const void *context, struct subject_result *result)
{
    void *memory = NULL;

    alarm(SECONDS_MAX);
    if (subject->memory_bytes > 0)
        memory = aligned_alloc(64, (subject->memory_bytes + 63) / 64 * 64);
    if (subject->memory_bytes == 0 || memory != NULL)
        try_all(subject, memory, context, result);
    _exit(0);
}

static void
report(const struct subject_result *result, uint32_t runs,
       struct props_finding *finding)
{
    if (finding->signal == SIGALRM)
        props_finding_fail(finding, "the subject did not end within %d s",
                           (int)SECONDS_MAX);
    else if (finding->signal != 0)
        props_finding_fail(finding, "the subject was ended by signal %d (%s)",
                           finding->signal, strsignal(finding->signal));
    else if (!result->done)
        props_finding_fail(finding, "begin() returned NULL, or the subject "
                                    "ended its process");
    else if (result->failed)
        props_finding_fail(finding, "%s", result->text);
    else if (result->repeats)
        snprintf(finding->text, sizeof finding->text, "%s", result->text);
    else
        snprintf(finding->text, sizeof finding->text,
                 "at most %.2f %% off, in %d runs of each cell; %.1f %% would "
                 "be noticed in all",
                 100 * result->worst, (int)runs, 100 * result->noticed);
}

void
props_subject_apart(const struct subject *subject, subject_try *try_all,
                    const void *context, uint32_t runs,
                    struct props_finding *finding)
{
    struct subject_result *result =
        mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    pid_t pid;

    if (result == MAP_FAILED) {
        props_finding_fail(finding, "not enough memory");
        return;
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        be_child(subject, try_all, context, result);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    finding->cells = result->cells;
    finding->unjudged = result->repeats;
    if (pid > 0 && WIFSIGNALED(status))
        finding->signal = WTERMSIG(status);
    if (pid < 0)
        props_finding_fail(finding, "the system refused a process");
    else
        report(result, runs, finding);
    munmap(result, sizeof *result);
}
