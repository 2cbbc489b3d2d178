/*
 * text.c -- memory and string functions: every byte that libc's version reads
 * or writes counts as an access.
 */
#include "explore/runtime/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explore/runtime/explored.h"

static void
reads(struct engine *e, const void *p, size_t bytes, uintptr_t site)
{
    if (sim_program_runs(e))
        sim_program_reads(e, p, bytes, site);
}

static void
writes(struct engine *e, void *p, size_t bytes, uintptr_t site)
{
    if (sim_program_runs(e))
        sim_program_writes(e, p, bytes, site);
}

static void
reads_string(struct engine *e, const char *s, uintptr_t site)
{
    if (sim_program_runs(e))
        sim_program_reads_string(e, s, SIZE_MAX, site);
}

/* A string of at most so many bytes. returns: its length */
static size_t
reads_at_most(struct engine *e, const char *s, size_t most, uintptr_t site)
{
    return sim_program_runs(e) ? sim_program_reads_string(e, s, most, site)
                               : strnlen(s, most);
}

/* ---- Memory ---- */

void *
explored_memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    struct engine *e = &sim_engine;

    reads(e, from, bytes, HERE);
    writes(e, to, bytes, HERE);
    return memcpy(to, from, bytes);
}

void *
explored_memmove(void *to, const void *from, size_t bytes)
{
    struct engine *e = &sim_engine;

    reads(e, from, bytes, HERE);
    writes(e, to, bytes, HERE);
    return memmove(to, from, bytes);
}

void *
explored_memset(void *to, int value, size_t bytes)
{
    struct engine *e = &sim_engine;

    writes(e, to, bytes, HERE);
    return memset(to, value, bytes);
}

int
explored_memcmp(const void *a, const void *b, size_t bytes)
{
    struct engine *e = &sim_engine;

    reads(e, a, bytes, HERE);
    reads(e, b, bytes, HERE);
    return memcmp(a, b, bytes);
}

void *
explored_memchr(const void *p, int c, size_t bytes)
{
    struct engine *e = &sim_engine;

    reads(e, p, bytes, HERE);
    return memchr(p, c, bytes);
}

/* ---- Strings ---- */

size_t
explored_strlen(const char *s)
{
    struct engine *e = &sim_engine;

    reads_string(e, s, HERE);
    return strlen(s);
}

size_t
explored_strnlen(const char *s, size_t most)
{
    struct engine *e = &sim_engine;

    return reads_at_most(e, s, most, HERE);
}

char *
explored_strcpy(char *restrict to, const char *restrict from)
{
    struct engine *e = &sim_engine;

    reads_string(e, from, HERE);
    writes(e, to, strlen(from) + 1, HERE);
    return memcpy(to, from, strlen(from) + 1);
}

char *
explored_stpcpy(char *restrict to, const char *restrict from)
{
    struct engine *e = &sim_engine;

    reads_string(e, from, HERE);
    writes(e, to, strlen(from) + 1, HERE);
    return stpcpy(to, from);
}

char *
explored_strncpy(char *restrict to, const char *restrict from, size_t most)
{
    struct engine *e = &sim_engine;
    const size_t length = reads_at_most(e, from, most, HERE);

    writes(e, to, most, HERE);
    memcpy(to, from, length);
    memset(to + length, 0, most - length);
    return to;
}

char *
explored_strcat(char *restrict to, const char *restrict from)
{
    struct engine *e = &sim_engine;
    const size_t begin = strlen(to);

    reads_string(e, to, HERE);
    reads_string(e, from, HERE);
    writes(e, to + begin, strlen(from) + 1, HERE);
    memcpy(to + begin, from, strlen(from) + 1);
    return to;
}

char *
explored_strncat(char *restrict to, const char *restrict from, size_t most)
{
    struct engine *e = &sim_engine;
    const size_t begin = strlen(to);
    const size_t length = reads_at_most(e, from, most, HERE);

    reads_string(e, to, HERE);
    writes(e, to + begin, length + 1, HERE);
    memcpy(to + begin, from, length);
    to[begin + length] = '\0';
    return to;
}

int
explored_strcmp(const char *a, const char *b)
{
    struct engine *e = &sim_engine;

    reads_string(e, a, HERE);
    reads_string(e, b, HERE);
    return strcmp(a, b);
}

int
explored_strcasecmp(const char *a, const char *b)
{
    struct engine *e = &sim_engine;

    reads_string(e, a, HERE);
    reads_string(e, b, HERE);
    return strcasecmp(a, b);
}

int
explored_strncmp(const char *a, const char *b, size_t most)
{
    struct engine *e = &sim_engine;

    reads_at_most(e, a, most, HERE);
    reads_at_most(e, b, most, HERE);
    return strncmp(a, b, most);
}

char *
explored_strchr(const char *s, int c)
{
    struct engine *e = &sim_engine;

    reads_string(e, s, HERE);
    return strchr(s, c);
}

char *
explored_strrchr(const char *s, int c)
{
    struct engine *e = &sim_engine;

    reads_string(e, s, HERE);
    return strrchr(s, c);
}

char *
explored_strstr(const char *s, const char *part)
{
    struct engine *e = &sim_engine;

    reads_string(e, s, HERE);
    reads_string(e, part, HERE);
    return strstr(s, part);
}

size_t
explored_strspn(const char *s, const char *accepted)
{
    struct engine *e = &sim_engine;
    const size_t length = strspn(s, accepted);

    reads(e, s, length + 1, HERE);
    reads_string(e, accepted, HERE);
    return length;
}

size_t
explored_strcspn(const char *s, const char *rejected)
{
    struct engine *e = &sim_engine;
    const size_t length = strcspn(s, rejected);

    reads(e, s, length + 1, HERE);
    reads_string(e, rejected, HERE);
    return length;
}

/* Reads to the end of the token, and may write a NUL there. */
char *
explored_strtok_r(char *restrict s, const char *restrict between,
                  char **restrict rest)
{
    struct engine *e = &sim_engine;
    char *begin = s != NULL ? s : *rest;
    char *word = strtok_r(s, between, rest);
    const char *end = word != NULL ? word + strlen(word) : *rest;

    reads_string(e, between, HERE);
    writes(e, rest, sizeof *rest, HERE);
    reads(e, begin, (size_t)(end - begin) + 1, HERE);
    if (*rest > end)
        writes(e, *rest - 1, 1, HERE);
    return word;
}

static char *
duplicate(struct engine *e, const char *s, size_t length, uintptr_t site)
{
    char *copy = sim_heap_allocate(e, length + 1, site);

    if (copy == NULL)
        return NULL;
    memcpy(copy, s, length);
    copy[length] = '\0';
    return copy;
}

char *
explored_strdup(const char *s)
{
    struct engine *e = &sim_engine;

    reads_string(e, s, HERE);
    return duplicate(e, s, strlen(s), HERE);
}

char *
explored_strndup(const char *s, size_t most)
{
    struct engine *e = &sim_engine;

    return duplicate(e, s, reads_at_most(e, s, most, HERE), HERE);
}

/* ---- Numbers: libc sets its own errno, and the program has another ---- */

static void
begin_number(struct engine *e, const char *s, char **end, uintptr_t site)
{
    reads_string(e, s, site);
    if (end != NULL)
        writes(e, end, sizeof *end, site);
    errno = *explored___errno_location();
}

static void
end_number(void)
{
    *explored___errno_location() = errno;
}

int
explored_atoi(const char *s)
{
    struct engine *e = &sim_engine;
    int number;

    begin_number(e, s, NULL, HERE);
    number = atoi(s);
    end_number();
    return number;
}

long
explored_atol(const char *s)
{
    struct engine *e = &sim_engine;
    long number;

    begin_number(e, s, NULL, HERE);
    number = atol(s);
    end_number();
    return number;
}

long
explored_strtol(const char *restrict s, char **restrict end, int base)
{
    struct engine *e = &sim_engine;
    long number;

    begin_number(e, s, end, HERE);
    number = strtol(s, end, base);
    end_number();
    return number;
}

unsigned long
explored_strtoul(const char *restrict s, char **restrict end, int base)
{
    struct engine *e = &sim_engine;
    unsigned long number;

    begin_number(e, s, end, HERE);
    number = strtoul(s, end, base);
    end_number();
    return number;
}

long long
explored_strtoll(const char *restrict s, char **restrict end, int base)
{
    struct engine *e = &sim_engine;
    long long number;

    begin_number(e, s, end, HERE);
    number = strtoll(s, end, base);
    end_number();
    return number;
}

unsigned long long
explored_strtoull(const char *restrict s, char **restrict end, int base)
{
    struct engine *e = &sim_engine;
    unsigned long long number;

    begin_number(e, s, end, HERE);
    number = strtoull(s, end, base);
    end_number();
    return number;
}

/* ---- Sorting: libc calls back into the program ---- */

/* By insertion: libc's own may allocate, and calls compare in its own order. */
void
explored_qsort(void *base, size_t count, size_t bytes,
               int (*compare)(const void *, const void *))
{
    struct engine *e = &sim_engine;
    char *at = base;

    if (!sim_program_runs(e)) {
        qsort(base, count, bytes, compare);
        return;
    }
    writes(e, base, count * bytes, HERE);
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0; j--) {
            char *b = at + j * bytes;
            char *a = b - bytes;

            if (compare(a, b) <= 0)
                break;
            for (size_t k = 0; k < bytes; k++) {
                const char c = a[k];

                a[k] = b[k];
                b[k] = c;
            }
        }
    }
}
