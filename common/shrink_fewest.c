/*
 * shrink_fewest.c -- the fewest non-zero answers that still fail.
 *
 * Greedy passes can end on five context switches where two stale reads would
 * do, because no single step leads from one to the other. Runs are cheap, so
 * try all lists with one non-zero answer, then all with two, and so on, as long
 * as the budget lasts. The first list that fails then has the fewest.
 *
 *      0 0 0 0 0          one run shows which questions are asked
 *      1 0 0 0  0 1 0 0   every position, every value: lists with one
 *      1 0 2    1 0 0 1   from each of those, every later position: with two
 */
#include "common/shrink.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_MAX = 6 };

struct search {
    struct sim_shrink *shrink;
    uint32_t *values; /* the list being tried; zeros beyond it */
    uint32_t room;
    uint32_t *bounds[FEWEST_MAX]; /* per depth: bounds in the run without
                                     further non-zero answers */
    uint32_t found_count;
};

static bool
budget_left(const struct search *s)
{
    return s->shrink->calls < s->shrink->calls_max;
}

static bool
fails(struct search *s, uint32_t count)
{
    s->shrink->calls++;
    return s->shrink->still_fails(s->shrink->context, s->values, count);
}

/*
 * Try every way to make `depth` more answers non-zero, from position `from` on.
 *
 * returns: true if a run fails; its answers are values[0..found_count)
 */
static bool
deepen(struct search *s, uint32_t from, uint32_t depth)
{
    const struct sim_choices *ran = s->shrink->ran;
    uint32_t *bounds = s->bounds[depth - 1];
    uint32_t count;

    if (!budget_left(s))
        return false;
    fails(s, from); /* to see the questions */
    count = ran->count < s->room ? ran->count : s->room;
    for (uint32_t i = from; i < count; i++)
        bounds[i] = ran->list[i].bound;
    for (uint32_t at = from; at < count; at++) {
        for (uint32_t v = 1; v < bounds[at] && budget_left(s); v++) {
            s->values[at] = v;
            if (depth > 1 ? deepen(s, at + 1, depth - 1) : fails(s, at + 1)) {
                if (depth == 1)
                    s->found_count = at + 1;
                return true;
            }
        }
        s->values[at] = 0;
    }
    return false;
}

static bool
search_init(struct search *s, struct sim_shrink *shrink, uint32_t room)
{
    bool ok;

    *s = (struct search){.shrink = shrink, .room = room};
    s->values = calloc(room + 1, sizeof *s->values);
    ok = s->values != NULL;
    for (uint32_t i = 0; i < FEWEST_MAX; i++) {
        s->bounds[i] = calloc(room + 1, sizeof *s->bounds[i]);
        ok = ok && s->bounds[i] != NULL;
    }
    return ok;
}

static void
search_close(struct search *s)
{
    free(s->values);
    for (uint32_t i = 0; i < FEWEST_MAX; i++)
        free(s->bounds[i]);
}

uint32_t
sim_shrink_fewest(struct sim_shrink *shrink, struct sim_choice *list,
                  uint32_t count, uint32_t list_max, uint64_t calls_max)
{
    const uint64_t allowed = shrink->calls_max;
    struct search s;
    uint32_t nonzero = 0;
    bool found = false;

    for (uint32_t i = 0; i < count; i++)
        nonzero += list[i].value != 0;
    shrink->fewest_known = false;
    shrink->calls_max = shrink->calls + calls_max;
    if (search_init(&s, shrink, list_max)) {
        uint32_t depth = 1;

        while (depth < nonzero && depth <= FEWEST_MAX && !found &&
               budget_left(&s)) {
            memset(s.values, 0, list_max * sizeof *s.values);
            found = deepen(&s, 0, depth);
            depth++;
        }
        shrink->fewest_known = found || (depth >= nonzero && budget_left(&s));
    }
    if (found) {
        /* The failing run was the last one. */
        count = s.found_count;
        memcpy(list, shrink->ran->list, count * sizeof *list);
    }
    search_close(&s);
    shrink->calls_max = allowed;
    return count;
}
