/* cover.c -- names and sums of coverage goals. */
#include "props/cover.h"

static const struct {
    const char *id;
    const char *text;
} names[] = {
#define X(id, text) {#id, text},
#include "props/cover.def"
#undef X
};

const char *
props_cover_id(enum props_cover goal)
{
    return names[goal].id;
}

const char *
props_cover_text(enum props_cover goal)
{
    return names[goal].text;
}

bool
props_cover_can(enum props_cover goal, const struct prof_rules *rules)
{
    return goal != COVER_CROSS_MUTEX || rules->mutex != PROF_MUTEX_ABSENT;
}

void
props_coverage_add(struct props_coverage *to, const struct props_coverage *from)
{
    for (int i = 0; i < COVER_COUNT; i++)
        to->hits[i] += from->hits[i];
}
