/*
 * options.h -- parses a command's arguments by a table of its options, and
 * prints its help from the same table.
 *
 *      --name VALUE   --name=VALUE   -n VALUE   -nVALUE
 *      --flag         -f             -fn VALUE
 *
 * Options may stand anywhere; after `--` all words are plain. Options must be
 * spelled out: `--seed` does not match `--seeds`. Where the name of a file is
 * wanted (FILE, DIR, FOLDER, OUT, PREFIX), a word of its own that begins with
 * `--` is an option behind a forgotten name, and refused.
 */
#ifndef COMMON_COMMAND_OPTIONS_H
#define COMMON_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/command/exit.h"

enum {
    CLI_OPTIONS_END = 0, /* no word is left, or see `ended` */
    CLI_OPTIONS_WORD = -1
};

struct cli_option {
    int id;            /* positive; 0 ends a table */
    char letter;       /* 0: none */
    const char *name;  /* without the dashes */
    const char *value; /* in help; NULL: the option has none */
    const char *help;  /* lines of up to 55 bytes */
};

/* What a command takes. */
struct cli_syntax {
    const char *command;
    const char *words;                /* in help: "[OPTION...] FILE..." */
    const char *about;                /* in help: lines */
    const struct cli_option *options; /* NULL: none but --help */
    const char *exits;                /* in help: lines; NULL: "0, or 1" */
    bool ends_at_word;         /* the first plain word ends the options */
    enum cli_exit usage_error; /* for wrong words; 0: CLI_USAGE */
};

struct cli_options {
    const struct cli_syntax *syntax;
    char **argv;
    int argc;
    int index;           /* of the next word */
    const char *cluster; /* the rest of -abc */
    bool words_only;
    const char *value; /* out: of the option; the word itself */
    bool ended;        /* out: the command must exit now */
    enum cli_exit exit_code;
};

/* in: argv[0], the command's name, and its words; argv[argc] is NULL */
void cli_options_begin(struct cli_options *options,
                       const struct cli_syntax *syntax, int argc, char **argv);

/*
 * Take the next option or word.
 *
 * returns: an option's id, CLI_OPTIONS_WORD or CLI_OPTIONS_END. After
 *          CLI_OPTIONS_END, options->ended says whether help was printed or a
 *          word was wrong, and options->exit_code is the exit code.
 */
int cli_options_next(struct cli_options *options);

/* returns: is the word "--NAME" of an option whose value is the next word? */
bool cli_options_takes_next(const struct cli_syntax *syntax, const char *word);

/*
 * For a command that has no options but help: collect the words.
 *
 * out:     argv[1 .. *words], the plain words
 * returns: false if help was printed, or an option was wrong (reported)
 */
bool cli_options_words(struct cli_options *options, int *words);

/* Complain that `what` is missing: "a FILE". returns: the exit code */
enum cli_exit cli_options_missing(const struct cli_options *options,
                                  const char *what);

#endif
