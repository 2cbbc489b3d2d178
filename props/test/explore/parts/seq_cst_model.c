/* seq_cst_model.c -- see seq_cst_model.h. */
#include "seq_cst_model.h"

#include "engine.h"

#include <string.h>

#include "unit_test.h"

enum { EVENTS = 128, THREADS = 4, PLACES = 3, STORES = 40, NONE = EVENTS };

/* ---- Relations ---- */

__extension__ typedef unsigned __int128 set;

/* Row a has bit b if (a, b) is in it. */
struct relation {
    set row[EVENTS];
};

enum kind { ACCESS, FENCE, SYNC, MARK };

struct event {
    enum kind kind;
    uint32_t thread;
    uint32_t place; /* of a mark: PLACES */
    bool reads;
    bool writes;
    bool seq_cst;
    uint32_t from; /* event whose store is read; NONE: the first value */
    struct clock now;
    struct clock sync; /* of a store: what its readers may learn */
};

static struct event events[EVENTS];
static uint32_t count;
static uint32_t order[PLACES + 1][EVENTS]; /* modification order */
static uint32_t orders[PLACES + 1];
static struct location locations[PLACES];
static struct store stores[PLACES][STORES];
static struct clock pending[THREADS];
static struct clock released[THREADS];
static struct clock locked;
static struct sim_rng rng;
static uint32_t asked[2]; /* answers */

static bool
in(const struct relation *r, uint32_t a, uint32_t b)
{
    return (r->row[a] >> b & 1) != 0;
}

static struct relation
compose(const struct relation *a, const struct relation *b)
{
    static const struct relation none;
    struct relation r = none;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++)
            r.row[i] |= in(a, i, j) ? b->row[j] : 0;
    }
    return r;
}

static struct relation
join(const struct relation *a, const struct relation *b)
{
    struct relation r = *a;

    for (uint32_t i = 0; i < count; i++)
        r.row[i] |= b->row[i];
    return r;
}

static struct relation
between(const struct relation *r, set from, set to)
{
    struct relation out = *r;

    for (uint32_t i = 0; i < count; i++)
        out.row[i] = (from >> i & 1) != 0 ? r->row[i] & to : 0;
    return out;
}

static struct relation
closure(struct relation r)
{
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < count; i++)
            r.row[i] |= in(&r, i, k) ? r.row[k] : 0;
    }
    return r;
}

/* ---- psc ---- */

static bool
same_place(uint32_t a, uint32_t b)
{
    return events[a].place == events[b].place && events[a].kind != FENCE &&
           events[a].kind != SYNC && events[b].kind != FENCE &&
           events[b].kind != SYNC;
}

/* Where a store stands, from 1; the first value is at 0. */
static uint32_t
rank(uint32_t e)
{
    const uint32_t place = events[e].place;
    uint32_t i = 0;

    while (i < orders[place] && order[place][i] != e)
        i++;
    return i + 1;
}

static uint32_t
rank_read(uint32_t e)
{
    return events[e].from == NONE ? 0 : rank(events[e].from);
}

static struct {
    struct relation po, hb, far, near, mo, fr, rf, eco, identity;
} of;

static void
relate(uint32_t a, uint32_t b)
{
    const struct event *x = &events[a];
    const struct event *y = &events[b];
    const set bit = (set)1 << b;
    const bool hb = y->now.at[x->thread] >= x->now.at[x->thread];

    if (x->thread == y->thread && a < b)
        of.po.row[a] |= bit;
    if (x->thread == y->thread && a < b && !same_place(a, b))
        of.far.row[a] |= bit;
    if (hb)
        of.hb.row[a] |= bit;
    if (!same_place(a, b))
        return;
    if (hb)
        of.near.row[a] |= bit;
    if (x->writes && y->writes && rank(a) < rank(b))
        of.mo.row[a] |= bit;
    if (x->reads && y->writes && rank_read(a) < rank(b))
        of.fr.row[a] |= bit;
    if (x->writes && y->reads && y->from == a)
        of.rf.row[a] |= bit;
}

static bool
is_irreflexive(const struct relation *r)
{
    for (uint32_t i = 0; i < count; i++) {
        if (in(r, i, i))
            return false;
    }
    return true;
}

/* Derive the relations. returns: false if no execution is like this, whatever
 * is seq_cst */
static bool
is_coherent(void)
{
    struct relation r;

    memset(&of, 0, sizeof of);
    for (uint32_t a = 0; a < count; a++) {
        of.identity.row[a] = (set)1 << a;
        for (uint32_t b = 0; b < count; b++) {
            if (a != b)
                relate(a, b);
        }
    }
    r = join(&of.rf, &of.mo);
    r = join(&r, &of.fr);
    of.eco = closure(r);
    r = compose(&of.hb, &of.eco);
    return is_irreflexive(&r);
}

/* Is there an order of all seq_cst operations? */
static bool
has_order(void)
{
    struct relation scb, left, right, base, r;
    set accesses = 0;
    set fences = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (events[i].seq_cst)
            *(events[i].kind == FENCE ? &fences : &accesses) |= (set)1 << i;
    }
    r = compose(&of.far, &of.hb);
    scb = compose(&r, &of.far);
    scb = join(&scb, &of.near);
    scb = join(&scb, &of.po);
    scb = join(&scb, &of.mo);
    scb = join(&scb, &of.fr);
    r = join(&of.hb, &of.identity);
    left = between(&r, fences, ~(set)0);
    right = between(&r, ~(set)0, fences);
    r = between(&of.identity, accesses, accesses);
    left = join(&left, &r);
    right = join(&right, &r);
    base = compose(&left, &scb);
    base = compose(&base, &right);
    r = compose(&of.hb, &of.eco);
    r = compose(&r, &of.hb);
    r = join(&r, &of.hb);
    r = between(&r, fences, fences);
    base = join(&base, &r);
    base = closure(base);
    return is_irreflexive(&base);
}

/* ---- Executions ---- */

static void
begin(uint64_t seed)
{
    struct engine *e = &sim_engine;

    e->accesses_count = 0;
    e->seq_cst_accesses = e->seq_cst_fences = e->seq_cst_marks = 0;
    rng.state = seed;
    count = 0;
    memset(orders, 0, sizeof orders);
    memset(stores, 0, sizeof stores);
    memset(pending, 0, sizeof pending);
    memset(released, 0, sizeof released);
    memset(&locked, 0, sizeof locked);
    e->threads_count = THREADS;
    for (uint32_t t = 0; t < THREADS; t++)
        memset(&e->threads[t].now, 0, sizeof e->threads[t].now);
    for (uint32_t p = 0; p < PLACES; p++) {
        locations[p].stores = stores[p];
        locations[p].stores_count = 1;
    }
}

/* The next event of a thread. */
static struct event *
event_new(uint32_t thread, enum kind kind, bool seq_cst)
{
    struct event *v = &events[count++];

    sim_engine.current = thread;
    sim_engine.threads[thread].now.at[thread]++;
    *v = (struct event){.kind = kind,
                        .thread = thread,
                        .seq_cst = seq_cst,
                        .from = NONE,
                        .now = sim_engine.threads[thread].now};
    return v;
}

/* As others, it learns and is learned from: a lock is taken and given back. */
static void
make_sync(uint32_t thread)
{
    struct thread *t = &sim_engine.threads[thread];
    struct event *v;

    sim_clock_join(&t->now, &locked);
    v = event_new(thread, SYNC, false);
    sim_clock_join(&locked, &v->now);
    sim_seq_cst_sync();
}

static void
make_fence(uint32_t thread)
{
    struct thread *t = &sim_engine.threads[thread];

    sim_clock_join(&t->now, &pending[thread]);
    event_new(thread, FENCE, true);
    released[thread] = t->now;
    sim_seq_cst_fence(0);
}

static void
make_mark(uint32_t thread)
{
    struct event *v = event_new(thread, MARK, true);

    v->place = PLACES;
    v->writes = true;
    order[PLACES][orders[PLACES]] = count - 1;
    sim_seq_cst_mark((uint64_t)7 << 32 | orders[PLACES]++, 0);
}

/* Take an access back. */
static void
undo(const struct event *v, uint32_t position)
{
    uint32_t *list = order[v->place];

    sim_engine.threads[v->thread].now.at[v->thread]--;
    if (v->writes) {
        orders[v->place]--;
        memmove(&list[position - 1], &list[position],
                (orders[v->place] - (position - 1)) * sizeof *list);
    }
    count--;
}

static void
keep(const struct event *v, uint32_t from, uint32_t position, bool publishes)
{
    struct location *l = &locations[v->place];
    const struct store *read = v->reads ? &l->stores[from] : NULL;
    struct store *s = &l->stores[position];

    sim_seq_cst_access(l, read, v->writes, v->seq_cst, 0);
    sim_clock_join(&pending[v->thread], &l->stores[from].sync);
    if (!v->writes)
        return;
    memmove(s + 1, s, (l->stores_count++ - position) * sizeof *s);
    *s = (struct store){.thread = v->thread,
                        .stamp = v->now.at[v->thread],
                        .sync = publishes ? v->now : released[v->thread]};
}

/*
 * Ask whether the access may read store `from` and write in front of store
 * `position`. Make it if it may.
 */
static void
try_access(uint32_t thread, uint32_t place, uint32_t kind, bool seq_cst,
           bool keeps)
{
    struct location *l = &locations[place];
    const bool reads = kind != 1;
    const bool writes = kind != 0;
    const bool learns = sim_rng_below(&rng, 2) == 0;
    const uint32_t from =
        sim_rng_below(&rng, 2) == 0 ? 0 : sim_rng_below(&rng, l->stores_count);
    const uint32_t position =
        kind == 2 ? from + 1 : 1 + sim_rng_below(&rng, l->stores_count);
    struct thread *t = &sim_engine.threads[thread];
    const struct clock before = t->now;
    struct event *v;
    bool allowed;

    if (reads && learns)
        sim_clock_join(&t->now, &l->stores[from].sync);
    v = event_new(thread, ACCESS, seq_cst);
    v->place = place;
    v->reads = reads;
    v->writes = writes;
    if (reads && from > 0)
        v->from = order[place][from - 1];
    if (writes) {
        memmove(&order[place][position], &order[place][position - 1],
                (orders[place]++ - (position - 1)) * sizeof order[0][0]);
        order[place][position - 1] = count - 1;
    }
    allowed = is_coherent();
    if (allowed) {
        allowed = has_order();
        assert_int_equal(sim_seq_cst_allows(l, reads ? from : UINT32_MAX,
                                            writes ? position : UINT32_MAX,
                                            seq_cst, &v->now),
                         allowed);
        asked[allowed]++;
    }
    if (allowed && keeps) {
        keep(v, reads ? from : 0, position, sim_rng_below(&rng, 2) == 0);
    } else {
        undo(v, position);
        t->now = before;
    }
}

/* How often what is drawn, of 100. */
struct mix {
    uint32_t fences;
    uint32_t syncs;
    uint32_t marks;
    uint32_t seq_cst; /* of the accesses */
    uint32_t places;
};

static void
try_any(const struct mix *mix)
{
    const uint32_t thread = sim_rng_below(&rng, THREADS);
    const uint32_t what = sim_rng_below(&rng, 100);

    if (what < mix->fences)
        make_fence(thread);
    else if (what < mix->fences + mix->syncs)
        make_sync(thread);
    else if (what < mix->fences + mix->syncs + mix->marks)
        make_mark(thread);
    else
        try_access(thread, sim_rng_below(&rng, mix->places),
                   sim_rng_below(&rng, 3),
                   sim_rng_below(&rng, 100) < mix->seq_cst, true);
}

/* Three threads: an access to a place, a fence or a lock, and an access to the
 * next place. A cycle of the three is what many errors need. */
static void
try_shape(uint32_t fences, uint32_t seq_cst)
{
    /* With fences only: a value is passed on, and two reads are old. */
    static const uint32_t kinds[3][2] = {{1, 1}, {0, 0}, {1, 0}};
    uint32_t at[3] = {0, 0, 0};

    for (uint32_t left = 9; left > 0;) {
        const uint32_t t = sim_rng_below(&rng, 3);
        const uint32_t drawn =
            sim_rng_below(&rng, 5) == 0 ? 2 : sim_rng_below(&rng, 2);

        if (at[t] == 3)
            continue;
        left--;
        if (at[t]++ != 1)
            try_access(t, (t + (at[t] == 3)) % 3,
                       fences == 100 ? kinds[t][at[t] == 3] : drawn,
                       sim_rng_below(&rng, 100) < seq_cst, true);
        else if (sim_rng_below(&rng, 100) < fences)
            make_fence(t);
        else
            make_sync(t);
    }
}

/* Steps: a thread; w, r or f for a fence, capital if seq_cst; a place. A fence
 * comes before another one only by the order of stores and who reads them. */
static void
try_steps(const char *step)
{
    for (; *step != 0; step += step[3] == 0 ? 3 : 4) {
        if (step[1] == 'f')
            make_fence((uint32_t)(step[0] - '0'));
        else
            try_access((uint32_t)(step[0] - '0'), (uint32_t)(step[2] - '0'),
                       step[1] == 'w' || step[1] == 'W', step[1] < 'a', true);
    }
}

void
seq_cst_model_try(void)
{
    static const struct mix mixes[] = {{10, 10, 4, 70, 3},
                                       {0, 30, 0, 80, 2},
                                       {35, 0, 0, 0, 2},
                                       {25, 20, 0, 20, 3},
                                       {5, 0, 10, 90, 2}};
    static const char *const steps[] = {
        "0w0 0f. 0w1 2w1 1r1 1f. 1r0", "0w0 0f. 0r1 2w1 1r1 1f. 1r0",
        "0w0 0f. 0w1 1r1 1w2 2r2 2f. 2r0", "2W1 1r1 1f. 1r0 0W0 0R1"};

    for (uint64_t seed = 1; seed <= 500; seed++) {
        begin(seed);
        for (uint32_t i = 0; i < 15; i++)
            try_any(&mixes[seed % 5]);
    }
    for (uint32_t seed = 1; seed <= 1500; seed++) {
        begin(seed);
        try_shape(seed % 3 * 50, seed % 3 == 2 ? 10 : 85);
    }
    for (uint32_t seed = 1; seed <= 800; seed++) {
        begin(seed);
        try_steps(steps[seed % 4]);
    }
    assert_true(asked[0] >= 300 && asked[1] >= 5000);
}

void
seq_cst_model_many(void)
{
    static const struct mix mix = {0, 0, 0, 100, 2};

    for (uint64_t seed = 1; seed <= 4; seed++) {
        begin(seed);
        for (uint32_t i = 0; i < 118; i++) {
            if (i % 2 == 0)
                make_mark(3);
            else
                make_fence(3);
        }
        while (count < EVENTS - 1)
            try_any(&mix);
        for (uint32_t i = 0; i < 10; i++)
            try_access(sim_rng_below(&rng, THREADS), i % 2, i % 3, true, false);
    }
}
