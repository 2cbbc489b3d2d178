/* main.c -- the `profsim` command: one word picks what to do. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/shard/merge.h"
#include "common/command/exit.h"
#include "common/nearest.h"
#include "common/command/preload.h"
#include "prof/version.h"

enum group { PROGRAMS, ORDERINGS, PROFILERS, CAMPAIGNS, GROUPS };

static const char *const groups[GROUPS] = {
    [PROGRAMS] = "memory and locks of a program",
    [ORDERINGS] = "orderings of a program",
    [PROFILERS] = "profilers under test",
    [CAMPAIGNS] = "campaigns on many machines",
};

/* A build of some products has their commands alone: the others are NULL. */
#define COMMAND(name) \
    enum cli_exit name(int argc, char **argv) __attribute__((weak))
COMMAND(cli_record);
COMMAND(cli_show);
COMMAND(cli_diff);
COMMAND(cli_profile);
COMMAND(cli_top);
COMMAND(cli_dump);
COMMAND(cli_recover);
COMMAND(cli_explore_levels);
COMMAND(cli_check);
COMMAND(cli_run);
COMMAND(cli_replay);
COMMAND(cli_explain);
COMMAND(cli_shrink);
COMMAND(cli_audit);
COMMAND(cli_conform);
COMMAND(cli_bias);
COMMAND(cli_trace);
COMMAND(cli_list);
COMMAND(cli_merge);
COMMAND(cli_corpus);

static const struct {
    enum group group;
    const char *name;
    enum cli_exit (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {PROGRAMS, "record", cli_record,
     "record a program's allocations and lock waits"},
    {PROGRAMS, "show", cli_show, "show where a recorded program's memory went"},
    {PROGRAMS, "diff", cli_diff,
     "compare two recorded runs: where memory grew"},
    {PROGRAMS, "profile", cli_profile,
     "take sampled profiles of a running program"},
    {PROGRAMS, "top", cli_top, "show what a profiled program has in use"},
    {PROGRAMS, "dump", cli_dump,
     "write the profiles of a profiled program, now"},
    {PROGRAMS, "recover", cli_recover, "save what a killed recorder left"},
    {ORDERINGS, "explore", cli_explore_levels,
     "run every ordering of a C or C++ program"},
    {PROFILERS, "check", cli_check, "judge random worlds by every property"},
    {PROFILERS, "run", cli_run, "run scenarios, and check what they expect"},
    {PROFILERS, "replay", cli_replay, "run saved failures again"},
    {PROFILERS, "explain", cli_explain, "show a scenario event by event"},
    {PROFILERS, "shrink", cli_shrink,
     "remove events that a failing scenario does not need"},
    {PROFILERS, "audit", cli_audit,
     "compute the error of other profilers' sampling rules"},
    {PROFILERS, "conform", cli_conform,
     "test a producer of otel_memory probes"},
    {PROFILERS, "bias", cli_bias,
     "show how far a sampled block profile is off"},
    {PROFILERS, "trace", cli_trace, "check, show and convert execution traces"},
    {PROFILERS, "list", cli_list,
     "list properties, rules, events, faults, coverage goals"},
    {CAMPAIGNS, "merge", cli_merge, "add up the results of shards"},
    {CAMPAIGNS, "corpus", cli_corpus,
     "exchange inputs with fuzzers on other machines"},
};

static void
print_usage(FILE *file)
{
    const size_t count = sizeof commands / sizeof *commands;
    enum group group = GROUPS;

    fputs("usage: profsim COMMAND [WORD...]\n", file);
    for (size_t i = 0; i < count; i++) {
        if (commands[i].run == NULL)
            continue;
        if (group != commands[i].group)
            fprintf(file, "\n%s\n", groups[group = commands[i].group]);
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].what);
    }
    fputs("\n'profsim COMMAND --help' or 'profsim help COMMAND' says more;\n"
          "'profsim version' prints the version.\n",
          file);
}

static enum cli_exit
no_command(const char *word)
{
    struct sim_nearest nearest = {.wrong = word, .wrong_bytes = strlen(word)};

    if (strcmp(word, "convert") == 0)
        return cli_usage("'convert' is called 'recover' now");
    if (strcmp(word, "mutants") == 0)
        return cli_usage("'mutants --memory-order' is 'explore --mutants' now");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].run != NULL)
            sim_nearest_try(&nearest, commands[i].name);
    cli_unknown("command", &nearest, "'profsim help' names them");
    return CLI_USAGE;
}

static int
run_command(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (commands[i].run != NULL && strcmp(commands[i].name, argv[0]) == 0)
            return (int)cli_output_end(commands[i].run(argc, argv));
    }
    return (int)no_command(argv[0]);
}

int
main(int argc, char **argv)
{
    static char help[] = "--help";

    /* A parent that ignores how its children end leaves that to them: then no
     * command could learn how its own ended. */
    cli_preload_ignores_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        puts("profsim " PROF_VERSION);
        return (int)cli_output_end(CLI_OK);
    }
    if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0 &&
        strcmp(argv[1], "help") != 0)
        return run_command(argc - 1, &argv[1]);
    if (argc < 3 || strcmp(argv[2], "help") == 0) {
        print_usage(stdout);
        return (int)cli_output_end(CLI_OK);
    }
    return run_command(2, (char *[]){argv[2], help, NULL});
}
