/*
 * choose.c -- the main program: explores one plan with one profiler.
 *
 * usage: PROGRAM PLAN; without PLAN it prints the names of the plans that it
 * can run
 */
#include <stdio.h>
#include <string.h>

#include "subjects/catalogue/small_world.h"

int __tsan_simulate(void (*callback)(void *argument), void *argument);

#define X(name, needs) void plan_##name(void);
#include "subjects/catalogue/plan.def"
#undef X

enum needs {
    NEEDS_RESIZE = 1,
    NEEDS_TURN = 2,
    NEEDS_RESET = 4,
    NEEDS_JOB = 8,
    NEEDS_WRITE = 16,
    NEEDS_TRIM = 32,
    NEEDS_COLLECTOR = 64,
    NEEDS_INTERPRETER = 128
};

static const struct plan {
    const char *name;
    void (*run)(void);
    unsigned needs;
} plans[] = {
#define X(name, needs) {#name, plan_##name, needs},
#include "subjects/catalogue/plan.def"
#undef X
};

static unsigned
lacks(unsigned needs)
{
    unsigned has = 0;

    has |= profiler.resize != NULL ? NEEDS_RESIZE : 0;
    has |= profiler.turn != NULL ? NEEDS_TURN : 0;
    has |= profiler.reset != NULL ? NEEDS_RESET : 0;
    has |= profiler.job != NULL ? NEEDS_JOB : 0;
    has |= profiler.write != NULL ? NEEDS_WRITE : 0;
    has |= profiler.trim != NULL ? NEEDS_TRIM : 0;
    has |= profiler.is_collected ? NEEDS_COLLECTOR : 0;
    has |= profiler.manner == INTERPRETED ? NEEDS_INTERPRETER : 0;
    return needs & ~has;
}

static void
run_plan(void *plan)
{
    ((const struct plan *)plan)->run();
}

int
main(int argc, char **argv)
{
    const struct plan *chosen = NULL;

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        if (lacks(plans[i].needs) != 0)
            continue;
        if (argc < 2)
            puts(plans[i].name);
        else if (strcmp(argv[1], plans[i].name) == 0)
            chosen = &plans[i];
    }
    if (argc < 2)
        return 0;
    return chosen == NULL ? 1
                          : __tsan_simulate(run_plan, (void *)(size_t)chosen);
}
