/* mark.c -- names and sums of coverage marks. */
#include "mark.h"

static const struct {
    const char *id;
    const char *text;
} names[] = {
#define X(id, text) {#id, text},
#include "mark.def"
#undef X
};

const char *
props_mark_id(enum props_mark mark)
{
    return names[mark].id;
}

const char *
props_mark_text(enum props_mark mark)
{
    return names[mark].text;
}

bool
props_mark_can(enum props_mark mark, const struct prof_rules *rules)
{
    return mark != MARK_CROSS_MUTEX || rules->mutex != PROF_MUTEX_ABSENT;
}

void
props_marks_add(struct props_marks *to, const struct props_marks *from)
{
    for (int i = 0; i < MARK_COUNT; i++)
        to->hits[i] += from->hits[i];
}
