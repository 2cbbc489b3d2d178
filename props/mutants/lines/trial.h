/*
 * trial.h -- mutants, their judges, and the verdicts.
 *
 * A unit is a judge that runs as one process: a number of random worlds, or one
 * test of a test program. A unit that never reaches a mutant is not run with
 * it.
 */
#ifndef MUTATE_TRIAL_H
#define MUTATE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lines/switch.h"

enum {
    TRIAL_UNITS_MAX = 1024,
    TRIAL_ARGUMENTS_MAX = 126,
    TRIAL_NOT_STARTED =
        126 /* the exit code of a process that could not begin to judge */
};

struct unit {
    char *program;
    char *test;                           /* a test of the program, or NULL */
    char *arguments[TRIAL_ARGUMENTS_MAX]; /* of the program; NULL ends them */
    bool worlds;
    bool explores; /* a kernel */
    char *name;    /* shown to users */
    unsigned char met[SWITCH_MUTANTS_MAX];
    bool left_out;   /* too slow, or fails without a mutant */
    uint64_t cpu_ms; /* with no mutant */
    uint64_t wall_ms;
};

enum verdict {
    VERDICT_NONE,  /* not tried: not in the sample */
    VERDICT_UNMET, /* no judge reaches it */
    VERDICT_SURVIVES,
    VERDICT_FAILED,
    VERDICT_CRASHED,
    VERDICT_HANGS
};

struct mutant {
    uint32_t id;
    uint32_t spot; /* the lowest number of its spot */
    const char *file;
    const char *function;
    uint32_t line;
    const char *kind;
    const char *text;
    const char *instead;
    uint32_t ordinal;
    const struct mutant *other; /* the second mutant of a pair; NULL: none */
    bool chosen;                /* to be tried */
    enum verdict verdict;
    const struct unit *by;
    char property[8]; /* the property that a world broke, or "" */
    uint32_t runs;    /* worlds tried; 0: not a world */
    uint32_t tried;   /* how many units were run */
};

struct trial {
    struct unit *units[TRIAL_UNITS_MAX];
    size_t units_count;
    struct mutant *mutants;
    size_t mutants_count;
    const char *folder; /* for scratch files */
    uint32_t jobs;
    uint64_t slow_ms;    /* judges that need longer are left out */
    uint64_t memory_gib; /* address space of a judge */
    const char *costs;   /* a file: a line "MS JUDGE" for each that is slow */
    FILE *results;
};

/* result.c: return a mutant's name, to be freed; write a line of the
 * results. */
char *trial_name(const struct mutant *mutant);
void trial_write(const struct trial *trial, const struct mutant *mutant);

/* unit.c: find the judges, and the mutants that each reaches. returns: whether
 * all pass without a mutant */
bool trial_find_units(struct trial *trial, const char *programs);

/* run.c: try the chosen mutants. */
void trial_run(struct trial *trial);

/* End this program if the judge could not be started. in: status, from
 * wait() */
void trial_must_have_started(const struct unit *unit, int status);

/* The process in which a unit runs. */
struct process {
    int pid;
    uint64_t begun_ms;
    bool timed_out;
};

/*
 * Start a unit with a mutant (NULL: none). It writes its output into the slot's
 * file, and the mutants that it reaches into the slot's page.
 */
void trial_start(const struct trial *trial, struct process *process,
                 const struct unit *unit, const struct mutant *mutant,
                 uint32_t slot);

/* Return the slot's page, which its processes share. */
unsigned char *trial_page(const struct trial *trial, uint32_t slot);

/* Return the path of a file of the slot: "page" or "output". returns:
 * malloc()ed */
char *trial_path(const struct trial *trial, uint32_t slot, const char *name);

uint64_t trial_now_ms(void);

#endif
