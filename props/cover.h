/* cover.h -- what a campaign has met. */
#ifndef PROPS_COVER_H
#define PROPS_COVER_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

enum props_cover {
#define X(id, text) COVER_##id,
#include "cover.def"
#undef X
    COVER_COUNT
};

/* Goals before the first are met by worlds of heaps, those up to the second by
 * traced worlds, the others by worlds of subjects. */
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

/* returns: whether runs under these rules can meet it */
bool props_cover_can(enum props_cover goal, const struct prof_rules *rules);

/* Add up what several campaigns have met. */
void props_coverage_add(struct props_coverage *to,
                        const struct props_coverage *from);

#endif
