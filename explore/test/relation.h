/*
 * relation.h -- relations between few events, as bit matrices; part of rc11.c.
 */
#ifndef EXPLORE_TEST_RELATION_H
#define EXPLORE_TEST_RELATION_H

#include <stdbool.h>
#include <stdint.h>

enum { EVENTS_MAX = 12 };

/* Row a has bit b if (a, b) is in it. */
struct relation {
    uint32_t row[EVENTS_MAX];
};

static inline bool
in(const struct relation *r, uint32_t a, uint32_t b)
{
    return (r->row[a] >> b & 1) != 0;
}

static inline void
put(struct relation *r, uint32_t a, uint32_t b)
{
    r->row[a] |= 1U << b;
}

static inline struct relation
join(const struct relation *a, const struct relation *b)
{
    struct relation r;

    for (uint32_t i = 0; i < EVENTS_MAX; i++)
        r.row[i] = a->row[i] | b->row[i];
    return r;
}

static inline struct relation
compose(const struct relation *a, const struct relation *b)
{
    struct relation r = {{0}};

    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        for (uint32_t j = 0; j < EVENTS_MAX; j++) {
            if (in(a, i, j))
                r.row[i] |= b->row[j];
        }
    }
    return r;
}

static inline struct relation
closure(struct relation r)
{
    for (uint32_t k = 0; k < EVENTS_MAX; k++) {
        for (uint32_t i = 0; i < EVENTS_MAX; i++) {
            if (in(&r, i, k))
                r.row[i] |= r.row[k];
        }
    }
    return r;
}

static inline bool
irreflexive(const struct relation *r)
{
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        if (in(r, i, i))
            return false;
    }
    return true;
}

static inline bool
acyclic(const struct relation *r)
{
    const struct relation c = closure(*r);

    return irreflexive(&c);
}

#endif
