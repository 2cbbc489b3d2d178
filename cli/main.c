/* main.c -- the `profsim` command: one word picks what to do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "command.h"
#include "explore.h"
#include "record.h"
#include "trace.h"

#define VERSION "0.1"

enum { WORD_MAX = 16 }; /* bytes of the name of a command, and more */

static const struct {
    const char *name;
    enum cli_exit (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", cli_run, "a scenario or a recording of a real program"},
    {"record", cli_record, "the allocations and lock waits of a program"},
    {"check", cli_check, "judge random worlds by every property"},
    {"bias", cli_bias, "how far a sampled block profile is off"},
    {"explore", cli_explore, "every ordering of small programs"},
    {"mutants", cli_mutants, "a library that is wrong: who notices?"},
    {"replay", cli_replay, "run saved scenarios again"},
    {"explain", cli_explain, "tell a scenario event by event"},
    {"shrink", cli_shrink, "leave out what a failing scenario does not need"},
    {"trace", cli_trace, "check, show and convert execution traces"},
    {"list", cli_list, "properties, rules, events, faults, marks"},
};

static void
print_usage(FILE *file)
{
    fputs("usage: profsim COMMAND [WORD...]\n\n", file);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\n'profsim COMMAND --help' or 'profsim help COMMAND' says more;\n"
          "'profsim version' says which profsim this is.\n",
          file);
}

/* An answer that did not get out is none. */
static int
end(enum cli_exit exit_code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return (int)exit_code;
    return (int)cli_usage("cannot write the output: %s", strerror(errno));
}

/* How many letters to add, leave out or change for the other? */
static size_t
distance(const char *word, const char *name)
{
    const size_t length = strlen(name);
    size_t row[WORD_MAX + 1];

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; word[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            const size_t change = diagonal + (word[i - 1] != name[j - 1]);

            diagonal = row[j];
            row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            if (change < row[j])
                row[j] = change;
        }
    }
    return row[length];
}

static enum cli_exit
no_command(const char *word)
{
    const char *nearest = NULL;
    size_t least = 3; /* farther away is another word */

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const size_t far = strcasecmp(word, commands[i].name) == 0
                               ? 0
                               : distance(word, commands[i].name);

        if (strlen(word) <= WORD_MAX && far < least && far < strlen(word)) {
            least = far;
            nearest = commands[i].name;
        }
    }
    if (nearest != NULL)
        return cli_usage("there is no command '%s'; did you mean '%s'?", word,
                         nearest);
    return cli_usage("there is no command '%s'; 'profsim help' names them",
                     word);
}

static int
run_command(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, argv[0]) == 0)
            return end(commands[i].run(argc, argv));
    }
    return (int)no_command(argv[0]);
}

int
main(int argc, char **argv)
{
    static char help[] = "--help";

    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        puts("profsim " VERSION);
        return end(CLI_OK);
    }
    if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "help") != 0)
        return run_command(argc - 1, &argv[1]);
    if (argc < 3 || strcmp(argv[2], "help") == 0) {
        print_usage(stdout);
        return end(CLI_OK);
    }
    return run_command(2, (char *[]){argv[2], help, NULL});
}
