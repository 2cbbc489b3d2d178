/* cover.h -- which coverage goals a campaign has reached, and how often. */
#ifndef PROPS_COVER_H
#define PROPS_COVER_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

enum props_cover {
#define X(id, text) COVER_##id,
#include "props/cover.def"
#undef X
    COVER_COUNT
};

/* Worlds with a heap reach the goals below COVER_OF_HEAPS, traced worlds those
 * from there to below COVER_OF_LIBRARY, worlds of subjects the rest. */
#define COVER_OF_HEAPS   COVER_TRACE_SESSION
#define COVER_OF_LIBRARY COVER_SUBJECT_READ

struct props_coverage {
    uint64_t hits[COVER_COUNT];
};

static inline void
props_cover_hit(struct props_coverage *cover, enum props_cover goal)
{
    cover->hits[goal]++;
}

/* returns: the identifier and the text of cover.def */
const char *props_cover_id(enum props_cover goal);
const char *props_cover_text(enum props_cover goal);

/* returns: can runs under these rules reach the goal? */
bool props_cover_can(enum props_cover goal, const struct prof_rules *rules);

/* Add the counts of one campaign to those of another. */
void props_coverage_add(struct props_coverage *to,
                        const struct props_coverage *from);

#endif
