/* conform_model.h -- what `profsim conform` must print and report of checks
 * that end in known ways. */
#ifndef PROPS_CONFORM_MODEL_H
#define PROPS_CONFORM_MODEL_H

#include <stddef.h>

enum { TEXT_BYTES = 1 << 16, CHECKS = 31 };

struct conform_check {
    const char *sentence;
    const char *name;
    const char *about;
};

extern const struct conform_check conform_checks[CHECKS];

/* The ways in which a check ends; those up to NOT_APPLICABLE are "ok". */
enum end {
    HOLDS,
    NOT_TRIED,
    NOT_APPLICABLE,
    INCOMPLETE,
    BROKEN,
    CRASHED,
    NO_END
};

/* What a check does, and what is to be seen of it. */
struct act {
    const char *script;
    enum end end;
    const char *text;     /* as it is printed */
    const char *reported; /* in JSON; NULL: the same */
};

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};

/* What is judged, and how: NULL for checks that nobody asks for. */
struct asked {
    const struct act *acts[CHECKS];
    const char *subject;
    const char *words;  /* after the check's name in a replay */
    const char *before; /* the events of a command */
};

void conform_put(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* returns: the name with - for _ */
const char *conform_dashed(const char *name);

/* Print the results as TAP. returns: the exit code */
int conform_text(struct text *text, const struct asked *asked);

/* Print the list of results in JSON. */
void conform_results(struct text *text, const struct asked *asked);

#endif
