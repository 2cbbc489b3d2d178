/*
 * main.c -- try the mutants that mutate_generate has written.
 *
 * usage: mutate_run [--jobs N] [--slow MS] [--costs FILE] [--every N]
 * [--higher N] [--pairs N] [--only PREFIX] [--memory GIB] FOLDER RESULTS
 *
 * FOLDER has mutants.tsv, programs and worlds. --slow leaves out the judges
 * that need more than MS by FILE (props/mutants/lines/costs.txt). --every tries
 * one of N mutants, the same each time. Mutants that change more than an
 * operator (higher.c, and statements that move in find.c) are tried only with
 * --higher, one of N. --pairs also tries about N pairs of two mutants at once,
 * both operators of one function and both also tried alone.
 * --memory limits the address space of a judge (8 GiB).
 * --only tries the mutants whose names begin with PREFIX: a file, or a file and
 * a function; or several of these, separated by commas.
 * RESULTS gets a line for each mutant that was tried.
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
    uint64_t every;  /* one of this many; 0: none */
    uint64_t higher; /* the same for those that change more than an operator */
    uint64_t pairs;  /* how many pairs */
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

/* Does a name begin with one of the prefixes in a list separated by commas? */
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

static bool
is_higher(const struct mutant *mutant)
{
    static const char *const kinds[] = {"moved", "late", "again", "cut",
                                        "limit"};
    bool found = false;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        found = found || strcmp(mutant->kind, kinds[i]) == 0;
    return found;
}

static void
choose(struct trial *trial, const struct wanted *wanted)
{
    for (size_t i = 0; i < trial->mutants_count; i++) {
        struct mutant *mutant = &trial->mutants[i];
        const uint64_t every =
            is_higher(mutant) ? wanted->higher : wanted->every;
        char *name = trial_name(mutant);

        mutant->chosen = every != 0 && name_is_sampled(name, every) &&
                         begins(name, wanted->only);
        free(name);
    }
}

/* Is the mutant tried, and does it change a single operator? */
static bool
is_operator(const struct mutant *mutant)
{
    return mutant->chosen && !is_higher(mutant);
}

static bool
is_same_function(const struct mutant *a, const struct mutant *b)
{
    return strcmp(a->file, b->file) == 0 &&
           strcmp(a->function, b->function) == 0;
}

/* Choose another operator of the same function, by the hash. */
static const struct mutant *
partner_of(const struct trial *trial, size_t count, size_t at, uint64_t hash)
{
    const struct mutant *found = NULL;
    size_t seen = 0;

    for (size_t i = 0; i < count; i++) {
        const struct mutant *mutant = &trial->mutants[i];

        if (mutant->spot != trial->mutants[at].spot && is_operator(mutant) &&
            is_same_function(mutant, &trial->mutants[at]) && hash % ++seen == 0)
            found = mutant;
    }
    return found;
}

/* Append pairs behind all mutants. in: count, of the mutants */
static void
choose_pairs(struct trial *trial, const struct wanted *wanted)
{
    const size_t count = trial->mutants_count;
    uint64_t operators = 0;
    uint64_t every;

    for (size_t i = 0; i < count; i++)
        operators += is_operator(&trial->mutants[i]);
    if (wanted->pairs == 0)
        return;
    every = operators > wanted->pairs ? operators / wanted->pairs : 1;
    for (size_t i = 0; i < count && trial->mutants_count < SWITCH_MUTANTS_MAX;
         i++) {
        struct mutant *pair = &trial->mutants[trial->mutants_count];
        char *name = trial_name(&trial->mutants[i]);
        const bool is_chosen = name_is_sampled(name, every);

        *pair = trial->mutants[i];
        pair->chosen = is_chosen && is_operator(pair);
        pair->kind = "pair";
        pair->other = pair->chosen ? partner_of(trial, count, i, i) : NULL;
        trial->mutants_count += pair->other != NULL;
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
        else if (strcmp(argv[i], "--higher") == 0)
            wanted->higher = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--pairs") == 0)
            wanted->pairs = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--memory") == 0)
            trial->memory_gib = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            wanted->only = argv[i + 1];
        else
            return false;
    }
    trial->folder = argv[i];
    return i + 2 == argc && trial->jobs >= 1 && trial->jobs <= 16;
}

int
main(int argc, char **argv)
{
    static struct trial trial = {.jobs = 2,
                                 .slow_ms = 250,
                                 .memory_gib = 8,
                                 .costs = "props/mutants/lines/costs.txt"};
    struct wanted wanted = {.only = "prof/", .every = 1};
    char *programs = NULL;

    if (!read_options(argc, argv, &trial, &wanted) ||
        asprintf(&programs, "%s/programs", trial.folder) < 0) {
        fputs("usage: mutate_run [--jobs N] [--slow MS] [--costs FILE] "
              "[--every N] [--higher N] [--pairs N] [--only PREFIX] [--memory "
              "GIB] FOLDER "
              "RESULTS\n",
              stderr);
        return 1;
    }
    if (!load(&trial))
        return 1;
    choose(&trial, &wanted);
    choose_pairs(&trial, &wanted);
    if (!trial_find_units(&trial, programs))
        fputs("mutate: some judges fail without a mutant\n", stderr);
    /* "e" closes the file on exec(), so that no judge can write to it. */
    trial.results = fopen(argv[argc - 1], "we");
    if (trial.results == NULL) {
        perror(argv[argc - 1]);
        return 1;
    }
    setvbuf(trial.results, NULL, _IOLBF, 0);
    trial_run(&trial);
    return fclose(trial.results) == 0 ? 0 : 1;
}
