/*
 * site.h -- the places in source files where a mutant changes the text.
 *
 * A spot is an expression or a statement, as a range of a file's text, with the
 * mutants that replace it. Spots may be nested; of two that overlap in another
 * way one is dropped. The name of a mutant does not depend on line numbers: it
 * consists of the file, the function, the text, its replacement, and an ordinal
 * if several mutants share these four.
 */
#ifndef MUTATE_SITE_H
#define MUTATE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SITE_CHANGES_MAX = 12,
    SITE_SHOWN_MAX = 72,
    SITE_SPOTS_MAX = 32768,
    SITE_SOURCES_MAX = 256
};

struct source {
    char *path; /* prof/x.c */
    char *text;
    size_t bytes;
};

/* One mutant. */
struct change {
    uint32_t id;                /* from 1, by file and place */
    const char *kind;           /* arithmetic, constant, ... */
    char *code;                 /* replaces the text; NULL: it is deleted */
    char shown[SITE_SHOWN_MAX]; /* the replacement, shortened */
    uint32_t ordinal;           /* among mutants of the same name, from 1 */
    bool left_out;              /* not in the sample: it has a name only */
};

struct spot {
    const struct source *source;
    size_t begin;
    size_t end;
    bool is_statement;
    char function[64];
    const struct spot *previous; /* the statement to exchange it with */
    struct change changes[SITE_CHANGES_MAX];
    uint32_t changes_count;
};

struct sites {
    struct source sources[SITE_SOURCES_MAX];
    size_t sources_count;
    struct spot *spots[SITE_SPOTS_MAX];
    size_t spots_count;
};

/* returns: the file, which is read at the first call */
const struct source *site_source(struct sites *sites, const char *path);

/* returns: the spot of this range, which is made at the first call */
struct spot *site_spot(struct sites *sites, const struct source *source,
                       const char *function, size_t begin, size_t end);

/*
 * Add a mutant, unless the spot has one with this code, or is full.
 *
 * in: code, malloc()ed; the spot takes ownership
 */
void site_change(struct spot *spot, const char *kind, char *code,
                 const char *shown);

/* Sort the spots, outer ones first; drop what overlaps; number the mutants. */
void site_number(struct sites *sites);

/* Write a spot's text on one line, shortened. */
void site_show(const struct spot *spot, char shown[SITE_SHOWN_MAX]);

/* returns: malloc()ed text as printf() would print it */
__attribute__((format(printf, 1, 2))) char *site_text(const char *format, ...);

#endif
