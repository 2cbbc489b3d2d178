/*
 * rc11.c -- see rc11.h. Relations are bit matrices of at most eleven events.
 */
#include "rc11.h"

#include <assert.h>
#include <string.h>

enum {
    EVENTS_MAX =
        PROPS_RC11_LOCATIONS + PROPS_RC11_THREADS_MAX * PROPS_RC11_STEPS_MAX
};

void
props_rc11_add(struct props_rc11_outcomes *o, uint64_t outcome)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->seen[i] == outcome)
            return;
    }
    assert(o->count < PROPS_RC11_OUTCOMES_MAX);
    o->seen[o->count++] = outcome;
}

bool
props_rc11_has(const struct props_rc11_outcomes *o, uint64_t outcome)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->seen[i] == outcome)
            return true;
    }
    return false;
}

uint64_t
props_rc11_put(uint64_t outcome, uint32_t thread, uint32_t step, uint32_t value)
{
    return outcome | (uint64_t)value
                         << (4 * (thread * PROPS_RC11_STEPS_MAX + step));
}

struct event {
    enum props_rc11_op op;
    uint32_t location; /* PROPS_RC11_LOCATIONS for a fence */
    int order;         /* of a compare-exchange: as it comes out */
    uint32_t value;
    uint32_t thread;
    uint32_t step;
    const struct props_rc11_step *asked; /* NULL: the value before */
    bool fails;
};

/* A relation: row a has bit b if (a, b) is in it. */
struct relation {
    uint32_t row[EVENTS_MAX];
};

struct graph {
    struct event events[EVENTS_MAX];
    uint32_t count;
    uint32_t from[EVENTS_MAX];    /* for reads: the write that is read */
    uint32_t written[EVENTS_MAX]; /* of a location, in modification order */
    struct relation sb, rf, mo, fr, hb, eco;
};

static struct props_rc11_outcomes *found;

static bool
reads(const struct event *e)
{
    return e->op == PROPS_RC11_LOAD || e->op == PROPS_RC11_EXCHANGE ||
           e->op == PROPS_RC11_CAS;
}

static bool
writes(const struct event *e)
{
    return e->op == PROPS_RC11_STORE || e->op == PROPS_RC11_EXCHANGE ||
           (e->op == PROPS_RC11_CAS && !e->fails);
}

static bool
exchanges(const struct event *e)
{
    return reads(e) && writes(e);
}

static bool
releases(const struct event *e)
{
    return e->order == __ATOMIC_RELEASE || e->order == __ATOMIC_ACQ_REL ||
           e->order == __ATOMIC_SEQ_CST;
}

static bool
acquires(const struct event *e)
{
    return e->order == __ATOMIC_ACQUIRE || e->order == __ATOMIC_ACQ_REL ||
           e->order == __ATOMIC_SEQ_CST;
}

static bool
in(const struct relation *r, uint32_t a, uint32_t b)
{
    return (r->row[a] >> b & 1) != 0;
}

static void
put(struct relation *r, uint32_t a, uint32_t b)
{
    r->row[a] |= 1U << b;
}

static struct relation
join(const struct relation *a, const struct relation *b)
{
    struct relation r;

    for (uint32_t i = 0; i < EVENTS_MAX; i++)
        r.row[i] = a->row[i] | b->row[i];
    return r;
}

static struct relation
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

static struct relation
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

static bool
irreflexive(const struct relation *r)
{
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        if (in(r, i, i))
            return false;
    }
    return true;
}

static bool
acyclic(const struct relation *r)
{
    const struct relation c = closure(*r);

    return irreflexive(&c);
}

/* The release sequence of write w: w, and the exchanges that read from it,
 * directly or through others. */
static uint32_t
sequence(const struct graph *g, uint32_t w)
{
    uint32_t set = 1U << w;

    for (uint32_t round = 0; round < g->count; round++) {
        for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++) {
            if (exchanges(&g->events[e]) && (set >> g->from[e] & 1) != 0)
                set |= 1U << e;
        }
    }
    return set;
}

/* Add that event a synchronizes with the readers of write w; a is w itself, or
 * a fence before it. */
static void
synchronize(struct graph *g, struct relation *sw, uint32_t a, uint32_t w)
{
    const uint32_t set = sequence(g, w);

    for (uint32_t r = PROPS_RC11_LOCATIONS; r < g->count; r++) {
        if (!reads(&g->events[r]) || (set >> g->from[r] & 1) == 0)
            continue;
        if (acquires(&g->events[r]))
            put(sw, a, r);
        for (uint32_t f = r + 1; f < g->count; f++) {
            if (g->events[f].op == PROPS_RC11_FENCE && in(&g->sb, r, f) &&
                acquires(&g->events[f]))
                put(sw, a, f);
        }
    }
}

static void
derive_hb(struct graph *g)
{
    struct relation sw = {{0}};

    for (uint32_t a = PROPS_RC11_LOCATIONS; a < g->count; a++) {
        if (!releases(&g->events[a]))
            continue;
        if (writes(&g->events[a]))
            synchronize(g, &sw, a, a);
        if (g->events[a].op != PROPS_RC11_FENCE)
            continue;
        for (uint32_t w = a + 1; w < g->count; w++) {
            if (writes(&g->events[w]) && in(&g->sb, a, w))
                synchronize(g, &sw, a, w);
        }
    }
    sw = join(&sw, &g->sb);
    g->hb = closure(sw);
}

static void
derive_eco(struct graph *g)
{
    struct relation r;

    memset(&g->fr, 0, sizeof g->fr);
    for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++) {
        if (reads(&g->events[e]))
            g->fr.row[e] = g->mo.row[g->from[e]] & ~(1U << e);
    }
    r = join(&g->rf, &g->mo);
    r = join(&r, &g->fr);
    g->eco = closure(r);
}

/* Keep only the pairs whose locations differ, or are equal. */
static struct relation
by_place(const struct graph *g, const struct relation *r, bool same)
{
    struct relation out = {{0}};

    for (uint32_t a = 0; a < g->count; a++) {
        for (uint32_t b = 0; b < g->count; b++) {
            const bool equal = g->events[a].location == g->events[b].location &&
                               g->events[a].location != PROPS_RC11_LOCATIONS;

            if (in(r, a, b) && equal == same)
                put(&out, a, b);
        }
    }
    return out;
}

/* Keep only the pairs from the set `from` to the set `to`. */
static struct relation
between(struct relation r, uint32_t from, uint32_t to)
{
    for (uint32_t a = 0; a < EVENTS_MAX; a++)
        r.row[a] = (from >> a & 1) != 0 ? r.row[a] & to : 0;
    return r;
}

static bool
seq_cst_holds(const struct graph *g)
{
    uint32_t accesses = 0;
    uint32_t fences = 0;
    struct relation identity = {{0}};
    struct relation far, scb, left, right, hb_or, base, r;

    for (uint32_t e = 0; e < g->count; e++) {
        put(&identity, e, e);
        if (e >= PROPS_RC11_LOCATIONS && g->events[e].order == __ATOMIC_SEQ_CST)
            *(g->events[e].op == PROPS_RC11_FENCE ? &fences : &accesses) |=
                1U << e;
    }
    far = by_place(g, &g->sb, false);
    r = compose(&far, &g->hb);
    scb = compose(&r, &far);
    r = by_place(g, &g->hb, true);
    scb = join(&scb, &r);
    scb = join(&scb, &g->sb);
    scb = join(&scb, &g->mo);
    scb = join(&scb, &g->fr);
    hb_or = join(&g->hb, &identity);
    left = between(identity, accesses, accesses);
    r = between(hb_or, fences, UINT32_MAX);
    left = join(&left, &r);
    right = between(identity, accesses, accesses);
    r = between(hb_or, UINT32_MAX, fences);
    right = join(&right, &r);
    base = compose(&left, &scb);
    base = compose(&base, &right);
    r = compose(&g->hb, &g->eco);
    r = compose(&r, &g->hb);
    r = join(&r, &g->hb);
    r = between(r, fences, fences);
    base = join(&base, &r);
    return acyclic(&base);
}

static bool
is_allowed(struct graph *g)
{
    struct relation r = join(&g->sb, &g->rf);

    if (!acyclic(&r)) /* no value out of thin air */
        return false;
    derive_hb(g);
    derive_eco(g);
    r = compose(&g->hb, &g->eco);
    return irreflexive(&g->hb) && irreflexive(&r) && seq_cst_holds(g);
}

/* In modification order an exchange comes right after the write that it
 * read. */
static bool
is_atomic(const struct graph *g)
{
    for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++) {
        if (exchanges(&g->events[e]) &&
            g->written[e] != g->written[g->from[e]] + 1)
            return false;
    }
    return true;
}

static void
judge_graph(struct graph *g)
{
    uint64_t outcome = 0;

    memset(&g->rf, 0, sizeof g->rf);
    memset(&g->mo, 0, sizeof g->mo);
    for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++) {
        if (reads(&g->events[e])) {
            put(&g->rf, g->from[e], e);
            outcome =
                props_rc11_put(outcome, g->events[e].thread, g->events[e].step,
                               g->events[g->from[e]].value);
        }
    }
    for (uint32_t a = 0; a < g->count; a++) {
        for (uint32_t b = 0; b < g->count; b++) {
            if (writes(&g->events[a]) && writes(&g->events[b]) &&
                g->events[a].location == g->events[b].location &&
                g->written[a] < g->written[b])
                put(&g->mo, a, b);
        }
    }
    if (is_atomic(g) && is_allowed(g))
        props_rc11_add(found, outcome);
}

/* Try all modification orders: give write e and each later one every free
 * rank. */
static void
enumerate_mo(struct graph *g, uint32_t e)
{
    uint32_t writers = 0;
    uint32_t used = 0;

    while (e < g->count && !writes(&g->events[e]))
        e++;
    if (e == g->count) {
        judge_graph(g);
        return;
    }
    for (uint32_t i = PROPS_RC11_LOCATIONS; i < g->count; i++) {
        if (!writes(&g->events[i]) ||
            g->events[i].location != g->events[e].location)
            continue;
        writers++;
        if (i < e)
            used |= 1U << g->written[i];
    }
    for (uint32_t rank = 1; rank <= writers; rank++) {
        if ((used >> rank & 1) != 0)
            continue;
        g->written[e] = rank;
        enumerate_mo(g, e + 1);
    }
}

/* What is read decides which compare-exchanges fail. returns: does each read
 * then read from a write? */
static bool
settle_exchanges(struct graph *g)
{
    bool sound = true;

    for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++) {
        struct event *v = &g->events[e];

        if (v->op != PROPS_RC11_CAS)
            continue;
        v->fails = g->events[g->from[e]].value != v->asked->expected;
        v->order = v->fails ? v->asked->order_failure : v->asked->order;
    }
    for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++)
        sound &= !reads(&g->events[e]) || writes(&g->events[g->from[e]]);
    return sound;
}

static void
enumerate_rf(struct graph *g, uint32_t e)
{
    while (e < g->count && !reads(&g->events[e]))
        e++;
    if (e == g->count) {
        if (settle_exchanges(g))
            enumerate_mo(g, PROPS_RC11_LOCATIONS);
        return;
    }
    for (uint32_t w = 0; w < g->count; w++) {
        if (w == e || g->events[w].op == PROPS_RC11_LOAD ||
            g->events[w].location != g->events[e].location)
            continue;
        g->from[e] = w;
        enumerate_rf(g, e + 1);
    }
}

void
props_rc11_allowed(const struct props_rc11_program *program,
                   struct props_rc11_outcomes *allowed)
{
    static struct graph g;

    memset(&g, 0, sizeof g);
    found = allowed;
    allowed->count = 0;
    for (uint32_t p = 0; p < PROPS_RC11_LOCATIONS; p++)
        g.events[g.count++] =
            (struct event){.op = PROPS_RC11_STORE, .location = p};
    for (uint32_t t = 0; t < program->threads; t++) {
        const uint32_t first = g.count;

        for (uint32_t i = 0; i < program->length; i++) {
            const struct props_rc11_step *s = &program->steps[t][i];

            for (uint32_t p = 0; p < PROPS_RC11_LOCATIONS; p++)
                put(&g.sb, p, g.count);
            for (uint32_t before = first; before < g.count; before++)
                put(&g.sb, before, g.count);
            g.events[g.count++] = (struct event){
                .op = s->op,
                .location = s->op == PROPS_RC11_FENCE ? PROPS_RC11_LOCATIONS
                                                      : s->location,
                .order = s->order,
                .value = s->value,
                .thread = t,
                .step = i,
                .asked = s,
            };
        }
    }
    enumerate_rf(&g, PROPS_RC11_LOCATIONS);
}
