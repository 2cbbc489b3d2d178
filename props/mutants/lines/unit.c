/*
 * unit.c -- find the judges: random worlds, and each test of each program.
 *
 * Each is run once without a mutant. Cheap ones are tried first. Their costs
 * are rounded coarsely, so that small differences do not change their order,
 * and nearly always the same judge is the first to catch a mutant.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lines/trial.h"

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

static struct unit *
find(const struct trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->units_count; i++) {
        if (strcmp(trial->units[i]->name, name) == 0)
            return trial->units[i];
    }
    return NULL;
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
    if (asprintf(&command, "PROF_MUTANT_TESTS=1 %s %s", program,
                 line != NULL ? line : "") < 0)
        abort();
    names = popen(command, "r");
    while (names != NULL && fgets(test, sizeof test, names) != NULL) {
        test[strcspn(test, "\n")] = '\0';
        snprintf(name, sizeof name, "%s %s", slash + 1, test);
        any = true;
        /* A test that is in several groups runs in each of them under this
         * name. */
        if (find(trial, name) == NULL)
            add_arguments(add(trial, program, test, name), line);
    }
    if (names == NULL || pclose(names) != 0 || !any) {
        fprintf(stderr, "mutate: %s does not list its tests\n", program);
        exit(1);
    }
    free(command);
}

/*
 * Leave out judges that are slow by the list of costs, not by a measurement. So
 * the same judges run on any machine, and its speed does not change the score.
 * A judge that the list does not name is cheap.
 */
static void
leave_out_slow(struct trial *trial)
{
    FILE *file = fopen(trial->costs, "r");
    char line[1024];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *name;
        const bool slow = strtoull(line, &name, 10) > trial->slow_ms;
        struct unit *unit;

        name[strcspn(name, "\n")] = '\0';
        name += strspn(name, " ");
        if (line[0] == '#')
            continue;
        unit = find(trial, name);
        if (unit == NULL)
            fprintf(stderr, "mutate: %s: there is no judge '%s'\n",
                    trial->costs, name);
        else
            unit->left_out = slow;
    }
    if (file == NULL || fclose(file) != 0) {
        perror(trial->costs);
        exit(1);
    }
}

/* ---- recording ---- */

static uint64_t
cpu_ms_of(const struct rusage *usage)
{
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000 +
           (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

static bool
note(const struct trial *trial, struct unit *unit, const unsigned char *page,
     int status, const struct rusage *usage)
{
    trial_must_have_started(unit, status);
    memcpy(unit->met, page, sizeof unit->met);
    unit->cpu_ms = cpu_ms_of(usage);
    unit->left_out = status != 0;
    if (status != 0)
        fprintf(stderr, "mutate: %s fails without a mutant\n", unit->name);
    else if (unit->cpu_ms > 4 * trial->slow_ms)
        fprintf(
            stderr,
            "mutate: %s took %llu ms, which the list of costs does not say\n",
            unit->name, (unsigned long long)unit->cpu_ms);
    return status == 0;
}

static struct unit *
next_asked(const struct trial *trial, size_t *next)
{
    while (*next < trial->units_count && trial->units[*next]->left_out)
        (*next)++;
    return *next < trial->units_count ? trial->units[(*next)++] : NULL;
}

static bool
record(struct trial *trial)
{
    struct process processes[16] = {0};
    struct unit *running[16] = {0};
    unsigned char *pages[16];
    size_t next = 0;
    size_t left = 0;
    bool passed = true;

    for (size_t i = 0; i < trial->units_count; i++)
        left += !trial->units[i]->left_out;
    for (uint32_t i = 0; i < trial->jobs; i++)
        pages[i] = trial_page(trial, i);
    while (left > 0) {
        struct rusage usage;
        int status;
        int pid;

        for (uint32_t i = 0; i < trial->jobs; i++) {
            if (running[i] != NULL ||
                (running[i] = next_asked(trial, &next)) == NULL)
                continue;
            memset(pages[i], 0, SWITCH_BYTES);
            trial_start(trial, &processes[i], running[i], NULL, i);
        }
        pid = wait4(-1, &status, 0, &usage);
        for (uint32_t i = 0; i < trial->jobs; i++) {
            if (running[i] == NULL || processes[i].pid != pid)
                continue;
            running[i]->wall_ms = trial_now_ms() - processes[i].begun_ms;
            passed =
                note(trial, running[i], pages[i], status, &usage) && passed;
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

/* Add the explorer's kernels, from the command's list. A build of the oracles
 * has no command. */
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
    if (access(program, F_OK) != 0)
        return;
    names = popen(command, "r");
    while (names != NULL && fgets(line, sizeof line, names) != NULL) {
        char name[600];
        struct unit *unit;

        line[strcspn(line, " \n")] = '\0';
        snprintf(name, sizeof name, "explore %s", line);
        unit = add(trial, program, NULL, name);
        unit->explores = true;
        unit->arguments[0] = strdup("explore");
        unit->arguments[1] = strdup(line);
        unit->arguments[2] = strdup("--exhaustive");
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
    leave_out_slow(trial);
    passed = record(trial);
    qsort(trial->units, trial->units_count, sizeof *trial->units, by_cost);
    return passed;
}
