/* mark.h -- what a campaign has met. */
#ifndef PROPS_MARK_H
#define PROPS_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

enum props_mark {
#define X(id, text) MARK_##id,
#include "mark.def"
#undef X
    MARK_COUNT
};

/* Those before it are met by worlds of heaps, the others by traced ones. */
#define MARKS_OF_HEAPS MARK_TRACE_SESSION

struct props_marks {
    uint64_t hits[MARK_COUNT];
};

static inline void
props_mark_hit(struct props_marks *marks, enum props_mark mark)
{
    marks->hits[mark]++;
}

/* returns: the identifier and the text of mark.def */
const char *props_mark_id(enum props_mark mark);
const char *props_mark_text(enum props_mark mark);

/* returns: whether runs under these rules can meet it */
bool props_mark_can(enum props_mark mark, const struct prof_rules *rules);

/* Add up what several campaigns have met. */
void props_marks_add(struct props_marks *to, const struct props_marks *from);

#endif
