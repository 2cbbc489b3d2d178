/* process.c -- run one judge against one mutant, in a process of its own. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lines/trial.h"

enum { JUDGE_MAX_S = 600 };

uint64_t
trial_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

char *
trial_path(const struct trial *trial, uint32_t slot, const char *name)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s.%u", trial->folder, name, slot) < 0)
        abort();
    return path;
}

unsigned char *
trial_page(const struct trial *trial, uint32_t slot)
{
    char *path = trial_path(trial, slot, "page");
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    void *page = MAP_FAILED;

    if (file >= 0 && ftruncate(file, SWITCH_BYTES) == 0)
        page = mmap(NULL, SWITCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                    file, 0);
    if (page == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(file);
    free(path);
    return page;
}

static void
set_number(const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    setenv(name, text, 1);
}

/*
 * Set limits, which exec() preserves: processor time, after which SIGVTALRM
 * ends the program, and memory, more of which a judge with sanitizers may take.
 */
static void
set_limits(uint64_t milliseconds, uint64_t memory_gib)
{
    const rlim_t bytes = (rlim_t)memory_gib << 30;
    const struct itimerval once = {
        .it_value = {(time_t)(milliseconds / 1000),
                     (suseconds_t)(milliseconds % 1000 * 1000)}};
    const struct rlimit memory = {bytes, RLIM_INFINITY};
    const struct rlimit none = {0, 0};

    setitimer(ITIMER_VIRTUAL, &once, NULL);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &none);
}

/* Return the limit of processor time: a kernel may give up within it, and a
 * test never needs it. */
static uint64_t
limit_ms(const struct unit *unit, const struct mutant *mutant)
{
    if (mutant == NULL)
        return JUDGE_MAX_S * UINT64_C(1000);
    return unit->explores ? 2 * unit->cpu_ms + 300 : 10 * unit->cpu_ms + 1000;
}

void
trial_start(const struct trial *trial, struct process *process,
            const struct unit *unit, const struct mutant *mutant, uint32_t slot)
{
    char *page = trial_path(trial, slot, "page");
    char *output = trial_path(trial, slot, "output");
    char *arguments[TRIAL_ARGUMENTS_MAX + 2] = {unit->program};

    for (size_t i = 0; i < TRIAL_ARGUMENTS_MAX; i++)
        arguments[i + 1] = unit->arguments[i];
    process->begun_ms = trial_now_ms();
    process->timed_out = false;
    fflush(NULL);
    process->pid = fork();
    if (process->pid < 0) {
        perror("fork");
        exit(1);
    }
    if (process->pid == 0) {
        const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        const int nothing = open("/dev/null", O_RDONLY);

        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        if (file < 0 || nothing < 0 || dup2(nothing, 0) < 0 ||
            dup2(file, 1) < 0 || dup2(file, 2) < 0)
            _exit(TRIAL_NOT_STARTED);
        close(file);
        setenv("PROF_MUTANTS_MET", page, 1);
        set_number("PROF_MUTANT", mutant != NULL ? mutant->id : 0);
        set_number("PROF_MUTANT_TOO", mutant != NULL && mutant->other != NULL
                                          ? mutant->other->id
                                          : 0);
        set_limits(limit_ms(unit, mutant), trial->memory_gib);
        alarm(JUDGE_MAX_S);
        if (unit->test != NULL)
            setenv("PROF_MUTANT_TEST", unit->test, 1);
        execv(unit->program, arguments);
        _exit(TRIAL_NOT_STARTED);
    }
    free(page);
    free(output);
}

void
trial_must_have_started(const struct unit *unit, int status)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != TRIAL_NOT_STARTED)
        return;
    fprintf(stderr, "mutate: %s does not start\n", unit->program);
    exit(1);
}
