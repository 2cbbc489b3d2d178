/*
 * explored_program.c -- the main of a program that `profsim explore prog.c` has
 * built, and the table with its one kernel.
 *
 * The linker gives it the program's own main as __real_main (--wrap=main), or
 * the function of --entry as profsim_entry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "complaint.h"
#include "explore.h"
#include "kernel_groups.h"
#include "start.h"

extern int __real_main(int argc, char **argv, char **environment)
    __attribute__((weak));
extern void profsim_entry(void) __attribute__((weak));
int __wrap_main(int argc, char **argv);

static char **program_words;

static int
entry(void *context)
{
    (void)context;
    if (profsim_entry != NULL) {
        profsim_entry();
        return 0;
    }
    return __real_main(1, program_words, environ);
}

static struct sim_kernel_entry rows[2] = {{.make = sim_program_kernel}};

const struct sim_kernel_entry *const cli_kernel_groups[] = {rows, NULL};

const char *
cli_only_kernel(void)
{
    return rows[0].name;
}

const char *
cli_replay_flags(void)
{
    const char *given = getenv("PROFSIM_EXPLORE_FLAGS");

    return given != NULL ? given : "";
}

enum cli_exit
cli_no_such_kernel(const char *name)
{
    return cli_usage("'%s' is not this program", name);
}

int
__wrap_main(int argc, char **argv)
{
    static char name[] = "program";
    static char *words[] = {name, NULL};
    const char *given = getenv("PROFSIM_EXPLORE_NAME");
    enum cli_exit code;

    sim_program_begin(argv);
    program_words = words;
    rows[0].name = given != NULL ? given : name;
    if (profsim_entry == NULL && __real_main == NULL)
        return (int)cli_usage(
            "the program has no main: name a function by --entry");
    sim_program_start(rows[0].name, entry, NULL);
    code = cli_explore(argc, argv);
    if (fflush(stdout) != 0)
        code = CLI_USAGE;
    _exit((int)code);
}
