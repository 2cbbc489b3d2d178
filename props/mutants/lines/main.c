/*
 * main.c -- try the mutants that mutate_generate has written.
 *
 * usage: mutate_run [--jobs N] [--slow MS] [--costs FILE] [--every N]
 * [--only PREFIX] FOLDER RESULTS
 *
 * FOLDER has mutants.tsv, programs and worlds. Judges that need more than
 * --slow by FILE, props/mutants/lines/costs.txt, are not asked. With --every
 * one of N mutants is tried, the same each time. PREFIX is of names: a file, or
 * a file and a function; or some, with commas. RESULTS has a line for each
 * mutant that was tried.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/name.h"
#include "lines/trial.h"

struct wanted {
    const char *only;
    uint64_t every;
};

static bool
load(struct trial *trial)
{
    char *path = NULL;
    char line[1024];
    FILE *file;

    trial->mutants = calloc(SWITCH_MUTANTS_MAX, sizeof *trial->mutants);
    if (trial->mutants == NULL ||
        asprintf(&path, "%s/mutants.tsv", trial->folder) < 0)
        return false;
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        struct mutant *mutant = &trial->mutants[trial->mutants_count];
        char *rest = strdup(line);

        mutant->id = (uint32_t)strtoul(strsep(&rest, "\t"), NULL, 10);
        mutant->spot = (uint32_t)strtoul(strsep(&rest, "\t"), NULL, 10);
        mutant->file = strsep(&rest, "\t");
        mutant->function = strsep(&rest, "\t");
        mutant->line = (uint32_t)strtoul(strsep(&rest, "\t"), NULL, 10);
        mutant->kind = strsep(&rest, "\t");
        mutant->text = strsep(&rest, "\t");
        mutant->instead = strsep(&rest, "\t");
        mutant->ordinal = (uint32_t)strtoul(rest, NULL, 10);
        if (mutant->id >= SWITCH_MUTANTS_MAX ||
            ++trial->mutants_count == SWITCH_MUTANTS_MAX) {
            fputs("mutate: too many mutants\n", stderr);
            exit(1);
        }
    }
    if (file == NULL)
        perror(path);
    return file != NULL && fclose(file) == 0;
}

/* A list, with commas, of how names may begin. */
static bool
begins(const char *name, const char *list)
{
    while (*list != '\0') {
        const size_t bytes = strcspn(list, ",");

        if (strncmp(name, list, bytes) == 0)
            return true;
        list += bytes + (list[bytes] == ',');
    }
    return false;
}

static void
choose(struct trial *trial, const struct wanted *wanted)
{
    for (size_t i = 0; i < trial->mutants_count; i++) {
        char *name = trial_name(&trial->mutants[i]);

        trial->mutants[i].chosen =
            name_is_sampled(name, wanted->every) && begins(name, wanted->only);
        free(name);
    }
}

static bool
read_options(int argc, char **argv, struct trial *trial, struct wanted *wanted)
{
    int i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--jobs") == 0)
            trial->jobs = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--slow") == 0)
            trial->slow_ms = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--costs") == 0)
            trial->costs = argv[i + 1];
        else if (strcmp(argv[i], "--every") == 0)
            wanted->every = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            wanted->only = argv[i + 1];
        else
            return false;
    }
    trial->folder = argv[i];
    return i + 2 == argc && trial->jobs >= 1 && trial->jobs <= 16 &&
           wanted->every >= 1;
}

int
main(int argc, char **argv)
{
    static struct trial trial = {
        .jobs = 2, .slow_ms = 250, .costs = "props/mutants/lines/costs.txt"};
    struct wanted wanted = {.only = "prof/", .every = 1};
    char *programs = NULL;

    if (!read_options(argc, argv, &trial, &wanted) ||
        asprintf(&programs, "%s/programs", trial.folder) < 0) {
        fputs("usage: mutate_run [--jobs N] [--slow MS] [--costs FILE] "
              "[--every N] [--only PREFIX] FOLDER RESULTS\n",
              stderr);
        return 1;
    }
    if (!load(&trial))
        return 1;
    choose(&trial, &wanted);
    if (!trial_find_units(&trial, programs))
        fputs("mutate: some judges fail without a mutant\n", stderr);
    /* "e": no judge may write into it. */
    trial.results = fopen(argv[argc - 1], "we");
    if (trial.results == NULL) {
        perror(argv[argc - 1]);
        return 1;
    }
    setvbuf(trial.results, NULL, _IOLBF, 0);
    trial_run(&trial);
    return fclose(trial.results) == 0 ? 0 : 1;
}
