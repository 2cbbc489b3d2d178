/*
 * kinds.h -- files of each kind that a command may be given, and a subject. It
 * ends its process at an allocation of 13 bytes, and shows nothing of one of
 * 14; of none at all if the environment has MADE_ABORTS or MADE_HIDES.
 */
#ifndef PROPS_KINDS_H
#define PROPS_KINDS_H

#include <stdbool.h>

#include "property.h"
#include "scenario.h"
#include "subject.h"

enum { KINDS = 17 };

extern const struct kind {
    const char *name;
    const char *text; /* NULL: there is no such file */
} kinds[KINDS];

extern const struct subject *made;

/* What was asked of a command. */
struct asked {
    const char *command;
    const struct subject *subject; /* NULL: none */
    bool lines;                    /* run --debug alloc */
};

/* Write a file in the folder. */
void kind_write(const char *name, const char *text);

/* What a file's result says. in: replay, the command without the path; NULL: it
 * was not tried. returns: exit_code */
int kind_result(const char *subject, const char *path, int exit_code,
                enum props_property property, const char *text,
                const char *replay);

/* returns: a command that replays, without the path */
const char *kind_replay(const struct asked *asked, const char *command);

/* returns: NULL, and *error, if the text is no scenario */
struct sim_scenario *kind_parse(const char *path, const char *text,
                                struct sim_error *error);

#endif
