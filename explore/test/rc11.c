/*
 * rc11.c -- see rc11.h.
 *
 * build: cflags=-O2
 */
#include "explore/test/rc11.h"
#include "explore/test/relation.h"

#include <assert.h>
#include <string.h>

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
    const struct props_rc11_step *requested; /* NULL: the value before */
    bool fails;
    uint32_t loop; /* 1: of a wait loop's last round; 2: of one without end */
};

struct graph {
    struct event events[EVENTS_MAX];
    uint32_t count;
    uint32_t from[EVENTS_MAX];    /* for reads: the write that is read */
    uint32_t written[EVENTS_MAX]; /* of a location, in modification order */
    struct relation sb, rf, mo, fr, hb, eco;
};

_Static_assert((int)EVENTS_MAX ==
                   PROPS_RC11_LOCATIONS +
                       PROPS_RC11_THREADS_MAX * PROPS_RC11_STEPS_MAX,
               "an event for each step and for each location's first value");

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
    return e->op == PROPS_RC11_STORE ||
           (e->op == PROPS_RC11_EXCHANGE && e->loop != 2) ||
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

/* returns: would the thread leave its loop after this event? */
static bool
leaves(const struct graph *g, uint32_t e)
{
    const struct event *v = &g->events[e];
    const uint32_t value = g->events[g->from[e]].value;

    if (!reads(v))
        return true;
    return v->op == PROPS_RC11_EXCHANGE ? value != v->value
                                        : value == v->requested->expected;
}

/* Each loop that ends leaves by its last round. One without end reads only the
 * newest values, and at least one of them keeps it waiting. */
static bool
loops_hold(const struct graph *g)
{
    uint32_t waiting = 0; /* a bit for each thread that stays */
    uint32_t endless = 0;

    for (uint32_t e = PROPS_RC11_LOCATIONS; e < g->count; e++) {
        const struct event *v = &g->events[e];

        if (v->loop == 1 && !leaves(g, e))
            return false;
        if (v->loop != 2)
            continue;
        endless |= 1U << v->thread;
        if (!leaves(g, e))
            waiting |= 1U << v->thread;
        if (reads(v) && g->mo.row[g->from[e]] != 0)
            return false;
    }
    return waiting == endless;
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
    if (is_atomic(g) && loops_hold(g) && is_allowed(g))
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
        v->fails = g->events[g->from[e]].value != v->requested->expected;
        v->order = v->fails ? v->requested->order_failure : v->requested->order;
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

/* in: ends, how many steps each thread makes
 *     stays, a bit for each thread whose last steps are a loop without end */
static void
enumerate(const struct props_rc11_program *program, const uint32_t *ends,
          uint32_t stays, struct props_rc11_outcomes *outcomes)
{
    static struct graph g;

    memset(&g, 0, sizeof g);
    found = outcomes;
    for (uint32_t p = 0; p < PROPS_RC11_LOCATIONS; p++)
        g.events[g.count++] =
            (struct event){.op = PROPS_RC11_STORE, .location = p};
    for (uint32_t t = 0; t < program->threads; t++) {
        const uint32_t first = g.count;

        for (uint32_t i = 0; i < ends[t]; i++) {
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
                .requested = s,
            };
        }
        for (uint32_t i = 0; i < ends[t]; i++) {
            const uint32_t loop = program->steps[t][i].loop;
            const bool endless = i + 1 == ends[t] && (stays >> t & 1) != 0;

            for (uint32_t j = i + 1 - loop; loop != 0 && j <= i; j++)
                g.events[first + j].loop = endless ? 2 : 1;
        }
    }
    enumerate_rf(&g, PROPS_RC11_LOCATIONS);
}
void
props_rc11_allowed(const struct props_rc11_program *program,
                   struct props_rc11_outcomes *allowed)
{
    uint32_t ends[PROPS_RC11_THREADS_MAX];

    for (uint32_t t = 0; t < program->threads; t++)
        ends[t] = program->length;
    allowed->count = 0;
    enumerate(program, ends, 0, allowed);
}

/* Let each thread from t on finish, or stay in any of its loops. */
static bool
some_wait(const struct props_rc11_program *program, uint32_t t, uint32_t *ends,
          uint32_t stays)
{
    static struct props_rc11_outcomes waiting;

    if (t == program->threads) {
        waiting.count = 0;
        if (stays != 0)
            enumerate(program, ends, stays, &waiting);
        return waiting.count > 0;
    }
    ends[t] = program->length;
    if (some_wait(program, t + 1, ends, stays))
        return true;
    for (uint32_t i = 0; i < program->length; i++) {
        ends[t] = i + 1;
        if (program->steps[t][i].loop != 0 &&
            some_wait(program, t + 1, ends, stays | 1U << t))
            return true;
    }
    return false;
}

bool
props_rc11_may_wait(const struct props_rc11_program *program)
{
    uint32_t ends[PROPS_RC11_THREADS_MAX];

    return some_wait(program, 0, ends, 0);
}
