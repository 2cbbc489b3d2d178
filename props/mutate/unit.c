/*
 * unit.c -- the judges: random worlds first, then each test of each program.
 *
 * Each is run once without a mutant. Cheap ones come first; what they cost is
 * rounded much, so that who catches what is nearly always the same.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "mutate/trial.h"

static struct unit *
add(struct trial *trial, const char *program, const char *test,
    const char *name)
{
    struct unit *unit = calloc(1, sizeof *unit);

    if (unit == NULL || trial->units_count == TRIAL_UNITS_MAX) {
        fputs("mutate: too many judges\n", stderr);
        exit(1);
    }
    unit->program = strdup(program);
    unit->test = test != NULL ? strdup(test) : NULL;
    unit->name = strdup(name);
    trial->units[trial->units_count++] = unit;
    return unit;
}

static void
add_worlds(struct trial *trial, const char *kind, const char *runs)
{
    char program[4096];
    char name[64];
    struct unit *unit;

    snprintf(program, sizeof program, "%s/worlds", trial->folder);
    snprintf(name, sizeof name, "%s %s", kind, runs);
    unit = add(trial, program, NULL, name);
    unit->worlds = true;
    unit->arguments[0] = strdup(kind);
    unit->arguments[1] = strdup(runs);
}

static void
add_arguments(struct unit *unit, const char *line)
{
    char *words = line != NULL ? strdup(line) : NULL;
    size_t count = 0;
    char *word;

    while ((word = strsep(&words, " ")) != NULL) {
        if (word[0] != '\0' && count < TRIAL_ARGUMENTS_MAX)
            unit->arguments[count++] = word;
    }
}

/* A program without tests of cmocka is one judge. */
static void
add_tests(struct trial *trial, char *line)
{
    const char *program = strsep(&line, " ");
    const char *slash = strrchr(program, '/');
    char *command = NULL;
    char name[512];
    char test[256];
    FILE *names;
    bool any = false;

    if (strstr(program, "/test_") == NULL) {
        add_arguments(add(trial, program, NULL, slash + 1), line);
        return;
    }
    if (asprintf(&command, "PROF_MUTANT_TESTS=1 %s", program) < 0)
        abort();
    names = popen(command, "r");
    while (names != NULL && fgets(test, sizeof test, names) != NULL) {
        test[strcspn(test, "\n")] = '\0';
        snprintf(name, sizeof name, "%s %s", slash + 1, test);
        add_arguments(add(trial, program, test, name), line);
        any = true;
    }
    if (names == NULL || pclose(names) != 0 || !any) {
        fprintf(stderr, "mutate: %s does not list its tests\n", program);
        exit(1);
    }
    free(command);
}

/* ------------------------------------------------------------------ recording
 */

static uint64_t
cpu_ms_of(const struct rusage *usage)
{
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000 +
           (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

static bool
note(struct unit *unit, const unsigned char *page, int status,
     const struct rusage *usage, const struct process *process)
{
    memcpy(unit->met, page, sizeof unit->met);
    unit->cpu_ms = cpu_ms_of(usage);
    unit->wall_ms = trial_now_ms() - process->begun_ms;
    unit->left_out = status != 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM) {
        fprintf(stderr, "mutate: %s takes too long, is left out\n", unit->name);
        return true;
    }
    if (status != 0)
        fprintf(stderr, "mutate: %s fails without a mutant\n", unit->name);
    return status == 0;
}

static bool
record(struct trial *trial)
{
    struct process processes[16] = {0};
    struct unit *running[16] = {0};
    unsigned char *pages[16];
    size_t next = 0;
    size_t left = trial->units_count;
    bool passed = true;

    for (uint32_t i = 0; i < trial->jobs; i++)
        pages[i] = trial_page(trial, i);
    while (left > 0) {
        struct rusage usage;
        int status;
        int pid;

        for (uint32_t i = 0; i < trial->jobs; i++) {
            if (running[i] != NULL || next == trial->units_count)
                continue;
            running[i] = trial->units[next++];
            memset(pages[i], 0, SWITCH_BYTES);
            trial_start(trial, &processes[i], running[i], 0, i);
        }
        pid = wait4(-1, &status, 0, &usage);
        for (uint32_t i = 0; i < trial->jobs; i++) {
            if (running[i] == NULL || processes[i].pid != pid)
                continue;
            passed =
                note(running[i], pages[i], status, &usage, &processes[i]) &&
                passed;
            running[i] = NULL;
            left--;
        }
    }
    return passed;
}

static uint64_t
cost(const struct unit *unit)
{
    uint64_t class = 0;

    for (uint64_t ms = unit->cpu_ms + unit->wall_ms; ms >= 16; ms /= 4)
        class ++;
    return class;
}

static int
by_cost(const void *left, const void *right)
{
    const struct unit *a = *(struct unit *const *)left;
    const struct unit *b = *(struct unit *const *)right;
    const bool a_worlds = a->worlds;
    const bool b_worlds = b->worlds;

    if (cost(a) != cost(b))
        return cost(a) < cost(b) ? -1 : 1;
    if (a_worlds != b_worlds)
        return a_worlds ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Kernels of the explorer, by their list. */
static void
add_kernels(struct trial *trial)
{
    char *program = NULL;
    char *command = NULL;
    char line[512];
    FILE *names;

    if (asprintf(&program, "%s/profsim", trial->folder) < 0 ||
        asprintf(&command, "%s explore --list", program) < 0)
        abort();
    names = popen(command, "r");
    while (names != NULL && fgets(line, sizeof line, names) != NULL) {
        char name[600];
        struct unit *unit;

        line[strcspn(line, " \n")] = '\0';
        snprintf(name, sizeof name, "explore %s", line);
        unit = add(trial, program, NULL, name);
        unit->arguments[0] = strdup("explore");
        unit->arguments[1] = strdup(line);
    }
    if (names == NULL || pclose(names) != 0) {
        fprintf(stderr, "mutate: %s does not list its kernels\n", program);
        exit(1);
    }
    free(program);
    free(command);
}

bool
trial_find_units(struct trial *trial, const char *programs)
{
    FILE *file = fopen(programs, "r");
    char program[65536];
    bool passed;

    if (file == NULL) {
        perror(programs);
        return false;
    }
    add_worlds(trial, "heaps", "400");
    add_worlds(trial, "traces", "200");
    add_worlds(trial, "heaps", "20000");
    add_worlds(trial, "traces", "5000");
    while (fgets(program, sizeof program, file) != NULL) {
        program[strcspn(program, "\n")] = '\0';
        add_tests(trial, program);
    }
    fclose(file);
    add_kernels(trial);
    passed = record(trial);
    qsort(trial->units, trial->units_count, sizeof *trial->units, by_cost);
    return passed;
}
