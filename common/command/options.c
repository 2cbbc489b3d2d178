/* options.c -- see options.h. */
#include "common/command/options.h"

#include <stdio.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/nearest.h"

enum { HELP = 1 << 20, HELP_COLUMN = 23 };

static const struct cli_option help_option = {HELP, 'h', "help", NULL,
                                              "print this"};

static const struct cli_option no_options[] = {{0}};

void
cli_options_begin(struct cli_options *options, const struct cli_syntax *syntax,
                  int argc, char **argv)
{
    *options = (struct cli_options){.syntax = syntax,
                                    .argc = argc,
                                    .argv = argv,
                                    .index = 1,
                                    .exit_code = syntax->usage_error != 0
                                                     ? syntax->usage_error
                                                     : CLI_USAGE};
}

static const struct cli_option *
table_of(const struct cli_options *options)
{
    return options->syntax->options != NULL ? options->syntax->options
                                            : no_options;
}

/* ---- help ---- */

static void
print_option(const struct cli_option *option)
{
    const char *text = option->help;
    int used = printf("  ");

    if (option->letter != '\0')
        used += printf("-%c, ", option->letter);
    used += printf("--%s%s%s", option->name, option->value != NULL ? " " : "",
                   option->value != NULL ? option->value : "");
    if (used >= HELP_COLUMN) {
        putchar('\n');
        used = 0;
    }
    while (*text != '\0') {
        const int bytes = (int)strcspn(text, "\n");

        printf("%*s%.*s\n", HELP_COLUMN - used, "", bytes, text);
        text += text[bytes] == '\n' ? bytes + 1 : bytes;
        used = 0;
    }
}

static void
print_help(const struct cli_options *options)
{
    const struct cli_syntax *syntax = options->syntax;

    printf("usage: profsim %s%s%s\n\n%s\n", syntax->command,
           syntax->words[0] != '\0' ? " " : "", syntax->words, syntax->about);
    for (const struct cli_option *o = table_of(options); o->id != 0; o++)
        print_option(o);
    print_option(&help_option);
    printf("\n%s", syntax->exits != NULL ? syntax->exits : CLI_EXIT_HELP_PLAIN);
}

enum cli_exit
cli_options_missing(const struct cli_options *options, const char *what)
{
    const char *command = options->syntax->command;

    cli_complain("%s: needs %s; 'profsim %s --help' says more", command, what,
                 command);
    return options->exit_code;
}

/* ---- words ---- */

static int
end(struct cli_options *options)
{
    options->ended = true;
    return CLI_OPTIONS_END;
}

static int
unknown(struct cli_options *options, const char *word)
{
    const char *name = word + strspn(word, "-");
    struct sim_nearest nearest = {.wrong = name,
                                  .wrong_bytes = strcspn(name, "=")};
    const int bytes = (int)(name - word + (int)nearest.wrong_bytes);

    for (const struct cli_option *o = table_of(options); o->id != 0; o++)
        sim_nearest_try(&nearest, o->name);
    sim_nearest_try(&nearest, help_option.name);
    if (nearest.best != NULL)
        cli_complain("%s: unknown option '%.*s'; did you mean '--%s'?",
                     options->syntax->command, bytes, word, nearest.best);
    else
        cli_complain("%s: unknown option '%.*s'; 'profsim %s --help' lists "
                     "them",
                     options->syntax->command, bytes, word,
                     options->syntax->command);
    return end(options);
}

/* Is the value the name of a file, by what help calls it? */
static bool
is_name_of_file(const struct cli_option *option)
{
    static const char *const words[] = {"FILE", "DIR", "FOLDER", "OUT",
                                        "PREFIX"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(option->value, words[i]) == 0)
            return true;
    return false;
}

/*
 * Handle an option that was recognised.
 *
 * in:      given, the option's value if it is in the same word; NULL: it is not
 */
static int
take(struct cli_options *options, const struct cli_option *option,
     const char *given)
{
    if (option->id == HELP) {
        print_help(options);
        options->exit_code = CLI_OK;
        return end(options);
    }
    if (option->value == NULL) {
        options->value = NULL;
        return option->id;
    }
    if (given == NULL && options->index < options->argc) {
        given = options->argv[options->index++];
        /* A name was forgotten; do not make a file called --junit. */
        if (is_name_of_file(option) && strncmp(given, "--", 2) == 0) {
            cli_complain("%s: --%s needs a value: %s, not '%s'; a file of that "
                         "name is ./%s",
                         options->syntax->command, option->name, option->value,
                         given, given);
            return end(options);
        }
    }
    if (given == NULL) {
        cli_complain("%s: --%s needs a value: %s", options->syntax->command,
                     option->name, option->value);
        return end(options);
    }
    options->value = given;
    return option->id;
}

/* in: word, "--name" or "--name=value" */
static int
take_long(struct cli_options *options, const char *word)
{
    const size_t bytes = strcspn(word + 2, "=");
    const char *given = word[2 + bytes] == '=' ? &word[3 + bytes] : NULL;
    const struct cli_option *o = table_of(options);

    while (o->id != 0 &&
           (strncmp(o->name, word + 2, bytes) != 0 || o->name[bytes] != '\0'))
        o++;
    if (o->id == 0 && bytes == strlen(help_option.name) &&
        strncmp(word + 2, help_option.name, bytes) == 0)
        o = &help_option;
    if (o->id == 0)
        return unknown(options, word);
    if (given != NULL && o->value == NULL) {
        cli_complain("%s: --%s takes no value", options->syntax->command,
                     o->name);
        return end(options);
    }
    return take(options, o, given);
}

/* Take the next letter of options->cluster. in: word, which contains it */
static int
take_letter(struct cli_options *options, const char *word)
{
    const char letter = *options->cluster++;
    const struct cli_option *o = table_of(options);
    const char *rest = *options->cluster != '\0' ? options->cluster : NULL;

    while (o->id != 0 && o->letter != letter)
        o++;
    if (o->id == 0 && letter == help_option.letter)
        o = &help_option;
    if (o->id == 0)
        return unknown(options, word);
    if (rest == NULL || o->value != NULL)
        options->cluster = NULL;
    return take(options, o, o->value != NULL ? rest : NULL);
}

int
cli_options_next(struct cli_options *options)
{
    const char *word;

    if (options->ended)
        return CLI_OPTIONS_END;
    if (options->cluster != NULL)
        return take_letter(options, options->argv[options->index - 1]);
    if (options->index >= options->argc)
        return CLI_OPTIONS_END;
    word = options->argv[options->index];
    if (!options->words_only && strcmp(word, "--") == 0) {
        options->words_only = true;
        options->index++;
        return cli_options_next(options);
    }
    if (options->words_only || word[0] != '-' || word[1] == '\0') {
        if (options->syntax->ends_at_word)
            return CLI_OPTIONS_END;
        options->value = word;
        options->index++;
        return CLI_OPTIONS_WORD;
    }
    options->index++;
    if (word[1] == '-')
        return take_long(options, word);
    options->cluster = word + 1;
    return take_letter(options, word);
}

bool
cli_options_takes_next(const struct cli_syntax *syntax, const char *word)
{
    for (const struct cli_option *o = syntax->options; o->id != 0; o++) {
        if (word[0] == '-' && word[1] == '-' && strcmp(word + 2, o->name) == 0)
            return o->value != NULL;
    }
    return false;
}

bool
cli_options_words(struct cli_options *options, int *words)
{
    *words = 0;
    while (cli_options_next(options) != CLI_OPTIONS_END)
        options->argv[++*words] = options->argv[options->index - 1];
    return !options->ended;
}
