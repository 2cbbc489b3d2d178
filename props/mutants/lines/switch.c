/*
 * switch.c -- see switch.h. Linked with a library that has all mutants, and
 * with a judge.
 *
 * A test program runs only the test named $PROF_MUTANT_TEST. If that is not set
 * but $PROF_MUTANT_TESTS is, it prints the names of all its tests. For this,
 * the _cmocka_run_group_tests() of this file replaces cmocka's.
 */
#include "switch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned char nobody_asks[SWITCH_MUTANTS_MAX];
static uint32_t nobody_counts;

unsigned mutant_on;
unsigned mutant_too;
unsigned char *mutants_met = nobody_asks;
uint32_t *mutant_runs = &nobody_counts;

void
mutant_meet(unsigned first_id)
{
    mutants_met[first_id] = 1;
}

int
mutant_is(unsigned id)
{
    return MUTANT_IS(id);
}

__attribute__((constructor(101))) static void
set_switch(void)
{
    const char *number = getenv("PROF_MUTANT");
    const char *too = getenv("PROF_MUTANT_TOO");
    const char *met = getenv("PROF_MUTANTS_MET");

    if (number != NULL)
        mutant_on = (unsigned)strtoul(number, NULL, 10);
    if (too != NULL)
        mutant_too = (unsigned)strtoul(too, NULL, 10);
    if (met != NULL) {
        const int file = open(met, O_RDWR | O_CLOEXEC);
        void *page = MAP_FAILED;

        if (file >= 0)
            page = mmap(NULL, SWITCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                        file, 0);
        if (page != MAP_FAILED)
            mutants_met = page;
        if (page != MAP_FAILED)
            mutant_runs = (uint32_t *)(void *)&mutants_met[SWITCH_MUTANTS_MAX];
        close(file);
    }
}

/* ---- tests ---- */

typedef int run_group(const char *name, const struct CMUnitTest *tests,
                      size_t count, CMFixtureFunction setup,
                      CMFixtureFunction teardown);

static int
run_one(const char *name, const struct CMUnitTest *tests, size_t count,
        CMFixtureFunction setup, CMFixtureFunction teardown)
{
    run_group *run;
    void *symbol = dlsym(RTLD_NEXT, "_cmocka_run_group_tests");
    const char *wanted = getenv("PROF_MUTANT_TEST");

    memcpy(&run, &symbol, sizeof run);
    if (wanted == NULL)
        return run(name, tests, count, setup, teardown);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tests[i].name, wanted) == 0)
            return run(name, &tests[i], 1, setup, teardown);
    }
    return 0;
}

int
_cmocka_run_group_tests(const char *name, const struct CMUnitTest *const tests,
                        const size_t count, CMFixtureFunction setup,
                        CMFixtureFunction teardown)
{
    if (getenv("PROF_MUTANT_TESTS") == NULL)
        return run_one(name, tests, count, setup, teardown);
    for (size_t i = 0; i < count; i++)
        printf("%s\n", tests[i].name);
    return 0;
}
