/* main.c -- the `profsim` command: one word picks what to do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "explore.h"
#include "record.h"
#include "trace.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", cli_run, "a scenario or a recording of a real program"},
    {"record", cli_record, "the allocations and lock waits of a program"},
    {"check", cli_check, "judge random worlds by every property"},
    {"bias", cli_bias, "how far a sampled block profile is off"},
    {"explore", cli_explore, "every ordering of small programs"},
    {"mutants", cli_mutants, "weaker memory orders: which kernel notices?"},
    {"replay", cli_replay, "run saved scenarios again"},
    {"explain", cli_explain, "tell a scenario event by event"},
    {"shrink", cli_shrink, "leave out what a failing scenario does not need"},
    {"trace", cli_trace, "check, show and convert execution traces"},
    {"list", cli_list, "properties, rules, events, marks"},
};

static void
print_usage(FILE *file)
{
    fputs("usage: profsim COMMAND [WORD...]\n\n", file);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\n'profsim COMMAND --help' says more.\n", file);
}

/* An answer that did not get out is none. */
static int
end(int exit_code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return exit_code;
    return cli_usage("cannot write the output: %s", strerror(errno));
}

int
main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return end(CLI_OK);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, argv[1]) == 0)
            return end(commands[i].run(argc - 1, &argv[1]));
    }
    return cli_usage("there is no command '%s'; 'profsim help' names them",
                     argv[1]);
}
