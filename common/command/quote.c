/* quote.c -- see quote.h. */
#include "common/command/quote.h"

#include <stdbool.h>
#include <string.h>

#include "common/escape.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_@%+=:,./-";

static bool
is_printable(const char *text, size_t bytes)
{
    while (bytes > 0) {
        const size_t one = sim_escape_printable(text, bytes);

        if (one == 0)
            return false;
        text += one;
        bytes -= one;
    }
    return true;
}

static void
print_single(FILE *file, const char *word)
{
    fputc('\'', file);
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, file);
    fputc('\'', file);
}

static void
print_dollar(FILE *file, const char *word)
{
    const char *const end = word + strlen(word);

    fputs("$'", file);
    while (word < end) {
        const size_t bytes = sim_escape_printable(word, (size_t)(end - word));

        if (*word == '\'' || *word == '\\')
            fprintf(file, "\\%c", *word);
        else if (bytes > 0)
            fwrite(word, 1, bytes, file);
        else
            fprintf(file, "\\%03o", (unsigned)(unsigned char)*word);
        word += bytes > 0 ? bytes : 1;
    }
    fputc('\'', file);
}

void
cli_quote_word(FILE *file, const char *word)
{
    const size_t bytes = strlen(word);

    if (bytes > 0 && strspn(word, plain) == bytes)
        fputs(word, file);
    else if (is_printable(word, bytes))
        print_single(file, word);
    else
        print_dollar(file, word);
}

void
cli_quote_path(FILE *file, const char *path)
{
    if (path[0] == '-')
        fputs("./", file); /* no option */
    cli_quote_word(file, path);
}
