/* main.c -- the `profsim` command: one word picks what to do. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "audit_command.h"
#include "command.h"
#include "complaint.h"
#include "build_program.h"
#include "conform.h"
#include "corpus.h"
#include "images.h"
#include "list_command.h"
#include "merge.h"
#include "mutants.h"
#include "nearest.h"
#include "preload.h"
#include "prof/version.h"
#include "profile.h"
#include "record.h"
#include "trace.h"

static const struct {
    const char *name;
    enum cli_exit (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", cli_run, "run a scenario, or show a recorded program's heap"},
    {"record", cli_record, "record a program's allocations and lock waits"},
    {"diff", cli_diff, "compare two recorded runs: where memory grew"},
    {"profile", cli_profile, "take sampled profiles of a running program"},
    {"top", cli_top, "show what a profiled program has in use"},
    {"dump", cli_dump, "write the profiles of a profiled program, now"},
    {"convert", cli_convert_folder, "save what a killed recorder left"},
    {"check", cli_check, "judge random worlds by every property"},
    {"merge", cli_merge, "add up the results of shards"},
    {"corpus", cli_corpus, "exchange inputs with fuzzers on other machines"},
    {"shard", cli_list_shard, "run one shard of a list of commands"},
    {"conform", cli_conform, "test a producer of otel_memory probes"},
    {"bias", cli_bias, "show how far a sampled block profile is off"},
    {"audit", cli_audit,
     "compute the error of other profilers' sampling rules"},
    {"explore", cli_explore_any, "run every ordering of a C or C++ program"},
    {"mutants", cli_mutants,
     "show which mistakes in the library the tests notice"},
    {"replay", cli_replay, "run saved scenarios again"},
    {"explain", cli_explain, "show a scenario event by event"},
    {"shrink", cli_shrink,
     "remove events that a failing scenario does not need"},
    {"trace", cli_trace, "check, show and convert execution traces"},
    {"list", cli_list,
     "list properties, rules, events, faults, coverage goals"},
};

static void
print_usage(FILE *file)
{
    fputs("usage: profsim COMMAND [WORD...]\n\n", file);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\n'profsim COMMAND --help' or 'profsim help COMMAND' says more;\n"
          "'profsim version' prints the version.\n",
          file);
}

static enum cli_exit
no_command(const char *word)
{
    struct sim_nearest nearest = {.wrong = word, .wrong_bytes = strlen(word)};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        sim_nearest_try(&nearest, commands[i].name);
    cli_unknown("command", &nearest, "'profsim help' names them");
    return CLI_USAGE;
}

static int
run_command(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, argv[0]) == 0)
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
