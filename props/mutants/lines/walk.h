/*
 * walk.h -- shared by find.c, cursor.c, expression.c and higher.c: cursors of
 * libclang, and the text that they cover.
 */
#ifndef MUTATE_WALK_H
#define MUTATE_WALK_H

#include <clang-c/Index.h>

#include "lines/site.h"

enum { CHILDREN_MAX = 256, QUIET_MAX = 256, LOADS_MAX = 32 };

struct range {
    const struct source *source; /* NULL: not in a file to be mutated */
    size_t begin;
    size_t end;
};

/* A local variable that is initialised by a load of shared data. */
struct load {
    CXCursor variable;
    struct range value;
};

struct walk {
    struct sites *sites;
    CXTranslationUnit unit;
    char function[64];
    CXType result;                 /* of the current function */
    struct range quiet[QUIET_MAX]; /* ranges in which nothing is changed */
    size_t quiet_count;
    struct load loads[LOADS_MAX];
    size_t loads_count;
};

struct children {
    CXCursor list[CHILDREN_MAX];
    size_t count;
};

/* ---- cursor.c ---- */

/* returns: the children of a cursor, to be freed */
struct children *find_children_of(CXCursor cursor);

/* returns: the cursor's text; no source if nothing may be changed there */
struct range find_range_of(struct walk *walk, CXCursor cursor);

/* returns: the text of a range, malloc()ed */
char *find_text_of(const struct range *range);

bool find_is_quiet(const struct walk *walk, const struct range *range);

/* returns: is it a call that does no work, such as an assertion or a
 *          prefetch? */
bool find_is_hint(CXCursor cursor);

struct spot *find_spot_of(struct walk *walk, const struct range *range);

/* ---- expression.c ---- */

/* Add the mutants of an expression and of its parts. */
void find_visit(struct walk *walk, CXCursor cursor);

/* Negate a condition, or a result of true or false. */
void find_negate(struct walk *walk, CXCursor cursor, const char *kind);

bool find_is_enumerator(CXCursor cursor);

/* ---- higher.c ---- */

/* Note a variable that is initialised by a load. in: value, the initialiser */
void find_note_load(struct walk *walk, CXCursor variable, CXCursor value);

/* Where a variable that holds a loaded value is read, load the value again. */
void find_load_again(struct walk *walk, CXCursor reference);

/* Truncate a value of 64 bits to 32. */
void find_narrow(struct walk *walk, CXCursor value);

/* Replace a limit by another one of the file. in: range, text, those of its
 * name */
void find_other_limit(struct walk *walk, const struct range *range,
                      const char *text);

#endif
