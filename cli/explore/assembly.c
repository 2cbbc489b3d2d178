/* assembly.c -- see assembly.h. */
#include "assembly.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"

struct source {
    const char *at;
    uint32_t line;
};

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void
step(struct source *s)
{
    s->line += *s->at == '\n';
    s->at++;
}

/* Past a string or a character, whose first quote `at` stands on. */
static void
skip_quoted(struct source *s)
{
    const char quote = *s->at;

    step(s);
    while (*s->at != '\0' && *s->at != quote) {
        if (*s->at == '\\' && s->at[1] != '\0')
            step(s);
        step(s);
    }
    if (*s->at != '\0')
        step(s);
}

/* returns: false if there is neither space nor a comment */
static bool
skip_space(struct source *s)
{
    const char *before = s->at;

    if (strncmp(s->at, "//", 2) == 0) {
        while (*s->at != '\0' && *s->at != '\n')
            step(s);
    } else if (strncmp(s->at, "/*", 2) == 0) {
        while (*s->at != '\0' && strncmp(s->at, "*/", 2) != 0)
            step(s);
        for (int i = 0; i < 2 && *s->at != '\0'; i++)
            step(s);
    } else if (isspace((unsigned char)*s->at)) {
        step(s);
    }
    return s->at != before;
}

static bool
take_word(struct source *s, const char *const *words)
{
    size_t length = 0;

    while (is_word(s->at[length]))
        length++;
    for (; length > 0 && *words != NULL; words++) {
        if (strlen(*words) == length && strncmp(s->at, *words, length) == 0) {
            s->at += length;
            return true;
        }
    }
    return false;
}

/* After the keyword: is the first string of the template a harmless one? */
static bool
is_harmless(struct source s)
{
    static const char *const qualifiers[] = {"volatile", "__volatile__",
                                             "__volatile", "inline", NULL};
    static const char *const harmless[] = {
        "\"\"", "\"pause\"", "\"yield\"", "\"nop\"", "\"rep; nop\"", NULL};
    const char *begin;

    while (skip_space(&s) || take_word(&s, qualifiers))
        ;
    if (*s.at != '(')
        return true; /* not a statement: a name, or an attribute */
    step(&s);
    while (skip_space(&s))
        ;
    begin = s.at;
    if (*s.at == '"')
        skip_quoted(&s);
    for (uint32_t i = 0; harmless[i] != NULL; i++) {
        if ((size_t)(s.at - begin) == strlen(harmless[i]) &&
            strncmp(begin, harmless[i], strlen(harmless[i])) == 0)
            return true;
    }
    return false;
}

static bool
check(const char *path, const char *text)
{
    static const char *const keywords[] = {"asm", "__asm__", "__asm", NULL};
    struct source s = {.at = text, .line = 1};
    bool ok = true;

    while (*s.at != '\0') {
        if (skip_space(&s))
            continue;
        if (*s.at == '"' || *s.at == '\'') {
            skip_quoted(&s);
        } else if (take_word(&s, keywords)) {
            if (!is_harmless(s))
                ok = cli_complain("%s:%u: inline assembly: what it touches "
                                  "would not be seen",
                                  path, (unsigned)s.line);
        } else if (is_word(*s.at)) {
            while (is_word(*s.at))
                step(&s);
        } else {
            step(&s);
        }
    }
    return ok;
}

bool
cli_assembly_check(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    bool ok;

    if (file == NULL)
        return cli_complain("%s: %s", path, strerror(errno));
    ok = getdelim(&text, &room, '\0', file) >= 0 || feof(file) ||
         cli_complain("%s: %s", path, strerror(errno));
    ok = ok && (text == NULL || check(path, text));
    free(text);
    fclose(file);
    return ok;
}
