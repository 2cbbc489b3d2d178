/* command.h -- the commands of profsim and what they share. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"
#include "property.h"

/* How a command ends. */
enum cli_exit {
    CLI_OK = 0,
    CLI_USAGE = 1,      /* wrong words, unreadable input, unwritable output */
    CLI_UNFINISHED = 2, /* a search ended before every ordering was tried */
    CLI_CRASH = 127,    /* a run ended its process */
    CLI_LIVENESS = 128,
    CLI_BROKEN = 129,
    CLI_NONDETERMINISM = 130
};

int cli_bias(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_shrink(int argc, char **argv);

/* Say on standard error what is wrong with the words. returns: CLI_USAGE */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * An option and its value: `--name VALUE` or `--name=VALUE`.
 *
 * in, out: *index, of argv; moved to the word that was used last
 * returns: the value; NULL if argv[*index] is not this option. A missing value
 *          is complained about, and ends the process.
 */
const char *cli_option(int argc, char **argv, int *index, const char *name);

/* out: *value. returns: false, and a complaint, if text is not such a number */
bool cli_number(const char *name, const char *text, uint64_t least,
                uint64_t most, uint64_t *value);

/* Add a property's id to a set; complains if there is none of that name. */
bool cli_property(const char *word, props_set *set);

/* returns: the rule set, NULL and a complaint if there is none of that name */
const struct prof_rules *cli_rules(const char *name);

/* Say how a run ended its process. in: signal, 0 if by exit. returns: exit */
enum cli_exit cli_crash(const char *path, int signal);

/* returns: the exit code that goes with a broken property */
enum cli_exit cli_exit_of(enum props_property property);

#endif
