/*
 * seq_cst.c -- checks whether a read or the position of a store is compatible
 * with an order of all seq_cst operations.
 *
 * C11 requires one total order of all seq_cst accesses and fences. In RC11 it
 * exists if the relation psc between them, the union of psc_base and psc_F, has
 * no cycle. Here e, e' are seq_cst accesses, f, f' seq_cst fences:
 *
 *   psc_base  an scb edge that begins at e, or at f or anything that happens
 *             after f, and ends at e', or at f' or anything that happens before
 *             f'
 *   scb       program order; happens-before between accesses to one location; a
 *             step of program order to another location, then happens-before,
 *             then another such step; modification order; reads-before
 *   psc_F     from f to f' by happens-before, or from what happens after f to
 *             what happens before f' by reads-from, modification order and
 *             reads-before, any number of times (eco)
 *
 * A read of the newest store, or a store at the end of the modification order,
 * comes after everything else: no edge leads from it, so it closes no cycle. So
 * only other accesses are checked. The order of execution does not matter.
 *
 * Steps of program order may also lead to an operation that is no access: on a
 * lock, say, or the creation of a thread. So these are on the list, too.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "need.h"

enum { ACCESSES_MAX = 1 << 15, NODES_MAX = 128, NODE_WORDS = NODES_MAX / 64 };

/* A set of nodes: seq_cst accesses and fences. */
struct nodes {
    uint64_t bits[NODE_WORDS];
};

/* Positions in modification order: store i of its place stands at 2 i. */
struct access {
    const struct location *location; /* NULL: a fence */
    struct clock now;                /* what happens before it, and itself */
    uint32_t thread;
    uint32_t stamp;
    uint32_t from_thread; /* the store read */
    uint32_t from_stamp;
    bool reads;
    bool writes;
    bool seq_cst;
    bool is_mark;
    int64_t read_at; /* while checking: position of the store read */
    int64_t write_at;
    struct nodes left;  /* nodes that lead here by happens-before, and itself */
    struct nodes right; /* nodes that this leads to so */
};

static struct access *list;
static uint32_t nodes[NODES_MAX];
static struct nodes edges[NODES_MAX];

static inline bool
has(const struct nodes *set, uint32_t node)
{
    return (set->bits[node / 64] >> (node % 64) & 1) != 0;
}

static inline void
add(struct nodes *set, uint32_t node)
{
    set->bits[node / 64] |= UINT64_C(1) << (node % 64);
}

static inline void
join(struct nodes *into, const struct nodes *from)
{
    for (uint32_t i = 0; i < NODE_WORDS; i++)
        into->bits[i] |= from->bits[i];
}

static inline bool
is_empty(const struct nodes *set)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < NODE_WORDS; i++)
        all |= set->bits[i];
    return all == 0;
}

/* ---- The accesses of the run ---- */

void
sim_seq_cst_begin(void)
{
    struct engine *e = &sim_engine;

    if (list == NULL) {
        list = sim_need(malloc((ACCESSES_MAX + 1) * sizeof *list));
    }
    e->accesses_count = 0;
    e->seq_cst_accesses = 0;
    e->seq_cst_fences = 0;
    e->seq_cst_marks = 0;
}

static inline struct access *
access_new(uint32_t thread, const struct location *location, bool seq_cst,
           uintptr_t site)
{
    struct engine *e = &sim_engine;
    const struct thread *t = &e->threads[thread];
    struct access *a;

    if (seq_cst)
        (*(location != NULL ? &e->seq_cst_accesses : &e->seq_cst_fences))++;
    if (e->accesses_count == ACCESSES_MAX ||
        (seq_cst &&
         e->seq_cst_accesses + e->seq_cst_fences + e->seq_cst_marks >=
             NODES_MAX))
        sim_engine_refuse(SIM_FAIL_LIMIT, site, 0,
                          "the run has too many seq_cst operations");
    a = &list[e->accesses_count++];
    a->location = location;
    a->now = t->now;
    a->thread = thread;
    a->stamp = t->now.at[thread];
    a->seq_cst = seq_cst;
    a->is_mark = false;
    return a;
}

/* in: from, the store that was read, or NULL */
void
sim_seq_cst_access(const struct location *location, const struct store *from,
                   bool writes, bool seq_cst, uintptr_t site)
{
    struct access *a = access_new(sim_engine.current, location, seq_cst, site);

    a->reads = from != NULL;
    a->writes = writes;
    a->from_thread = from != NULL ? from->thread : 0;
    a->from_stamp = from != NULL ? from->stamp : 0;
}

void
sim_seq_cst_fence(uintptr_t site)
{
    struct access *a = access_new(sim_engine.current, NULL, true, site);

    a->reads = false;
    a->writes = false;
}

/* An operation that is no access has told others what the thread knows, or has
 * learned from others. Before the first seq_cst operation it cannot matter. */
static struct access *
sync_new(uint32_t thread)
{
    struct engine *e = &sim_engine;
    struct access *a;

    if (e->seq_cst_accesses + e->seq_cst_fences == 0)
        return NULL;
    a = access_new(thread, NULL, false, e->threads[thread].last_site);
    a->reads = false;
    a->writes = false;
    return a;
}

void
sim_seq_cst_sync(void)
{
    sync_new(sim_engine.current);
}

void
sim_seq_cst_begin_thread(uint32_t thread)
{
    struct access *a = sync_new(thread);

    if (a != NULL) /* no event yet: it comes with the first */
        a->stamp++;
}

/* Marks stand in the order in which they were made: writes to one place. */
void
sim_seq_cst_mark(uint64_t number, uintptr_t site)
{
    static const struct location marks;
    struct access *a = access_new(sim_engine.current, &marks, true, site);

    sim_engine.seq_cst_accesses--; /* marks alone need no check */
    sim_engine.seq_cst_marks++;
    a->is_mark = true;
    a->reads = false;
    a->writes = true;
    a->write_at = (int64_t)number;
}

/* ---- Relations ---- */

static inline bool
happens_before(const struct access *a, const struct access *b)
{
    return a != b && b->now.at[a->thread] >= a->stamp;
}

static inline bool
same_place(const struct access *a, const struct access *b)
{
    return a->location == b->location && a->location != NULL;
}

/* Modification order, or reads-before. */
static bool
overtakes(const struct access *a, const struct access *b)
{
    return b->writes && a != b &&
           ((a->writes && a->write_at < b->write_at) ||
            (a->reads && a->read_at < b->write_at));
}

static bool
eco(const struct access *a, const struct access *b)
{
    return overtakes(a, b) || (a != b && b->reads &&
                               ((a->writes && a->write_at <= b->read_at) ||
                                (a->reads && a->read_at < b->read_at)));
}

/* The latest access before b in its thread, to another place; or NULL. */
static const struct access *
other_before(uint32_t count, const struct access *b)
{
    for (const struct access *a = b; a-- > list;) {
        if (a->thread == b->thread && !same_place(a, b))
            return a;
    }
    (void)count;
    return NULL;
}

static const struct access *
other_after(uint32_t count, const struct access *a)
{
    for (const struct access *b = a + 1; b < list + count; b++) {
        if (b->thread == a->thread && !same_place(a, b))
            return b;
    }
    return NULL;
}

static bool
scb(uint32_t count, const struct access *a, const struct access *b)
{
    const struct access *after;
    const struct access *before;

    if (a->thread == b->thread && a->stamp < b->stamp)
        return true;
    if (same_place(a, b) && (happens_before(a, b) || overtakes(a, b)))
        return true;
    after = other_after(count, a);
    before = other_before(count, b);
    return after != NULL && before != NULL && happens_before(after, before);
}

/* ---- psc ---- */

static int64_t
position_of(const struct location *l, uint32_t thread, uint32_t stamp)
{
    for (uint32_t i = l->stores_count; i-- > 0;) {
        if (l->stores[i].thread == thread && l->stores[i].stamp == stamp)
            return 2 * (int64_t)i;
    }
    return 0; /* a plain write came over it */
}

static uint32_t
collect_nodes(uint32_t count)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct access *a = &list[i];

        memset(&a->left, 0, sizeof a->left);
        memset(&a->right, 0, sizeof a->right);
        if (a->seq_cst) {
            nodes[found] = i;
            memset(&edges[found], 0, sizeof edges[found]);
            add(&a->left, found);
            add(&a->right, found);
            found++;
        }
    }
    return found;
}

/* A fence leads to what happens after it, and the other way round. */
static void
spread_fences(uint32_t count, uint32_t nodes_count)
{
    for (uint32_t n = 0; n < nodes_count; n++) {
        const struct access *f = &list[nodes[n]];

        if (f->location != NULL)
            continue;
        for (uint32_t i = 0; i < count; i++) {
            if (happens_before(f, &list[i]))
                add(&list[i].left, n);
            if (happens_before(&list[i], f))
                add(&list[i].right, n);
        }
    }
}

static void
connect(const struct nodes *from, const struct nodes *to, uint32_t nodes_count)
{
    for (uint32_t n = 0; n < nodes_count; n++) {
        if (has(from, n))
            join(&edges[n], to);
    }
}

/* Only the fences of a set. */
static struct nodes
fences_of(const struct nodes *set, uint32_t nodes_count)
{
    struct nodes fences = {{0}};

    for (uint32_t n = 0; n < nodes_count; n++) {
        if (has(set, n) && list[nodes[n]].location == NULL)
            add(&fences, n);
    }
    return fences;
}

static void
build_edges(uint32_t count, uint32_t nodes_count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct access *a = &list[i];
        struct nodes fences;

        if (is_empty(&a->left))
            continue;
        fences = fences_of(&a->left, nodes_count);
        for (uint32_t j = 0; j < count; j++) {
            const struct access *b = &list[j];

            if (i == j || is_empty(&b->right))
                continue;
            if (scb(count, a, b))
                connect(&a->left, &b->right, nodes_count);
            if (same_place(a, b) && eco(a, b)) {
                const struct nodes ends = fences_of(&b->right, nodes_count);

                connect(&fences, &ends, nodes_count);
            }
        }
        if (a->location == NULL) { /* fences by happens-before alone */
            struct nodes ends = fences_of(&a->right, nodes_count);

            for (uint32_t n = 0; n < nodes_count; n++) {
                if (nodes[n] == i)
                    ends.bits[n / 64] &= ~(UINT64_C(1) << (n % 64));
            }
            connect(&a->left, &ends, nodes_count);
        }
    }
}

static bool
has_cycle(uint32_t nodes_count)
{
    for (uint32_t k = 0; k < nodes_count; k++) {
        for (uint32_t i = 0; i < nodes_count; i++) {
            if (has(&edges[i], k))
                join(&edges[i], &edges[k]);
        }
    }
    for (uint32_t i = 0; i < nodes_count; i++) {
        if (has(&edges[i], i))
            return true;
    }
    return false;
}

/*
 * May the running thread's next access read store `from`, and write in front of
 * store `position`?
 *
 * in:      from, an index; UINT32_MAX if it reads nothing
 *          position, an index; UINT32_MAX if it writes nothing
 *          now, the clock of what will happen before it, its own stamp included
 */
bool
sim_seq_cst_allows(const struct location *l, uint32_t from, uint32_t position,
                   bool seq_cst, const struct clock *now)
{
    const struct engine *e = &sim_engine;
    const uint32_t count = e->accesses_count + 1;
    struct access *new = &list[e->accesses_count];
    uint32_t nodes_count;

    if (e->seq_cst_fences + e->seq_cst_accesses + seq_cst < 2 ||
        (!seq_cst && e->seq_cst_fences == 0))
        return true;
    *new = (struct access){
        .location = l,
        .now = *now,
        .thread = e->current,
        .stamp = now->at[e->current],
        .reads = from != UINT32_MAX,
        .writes = position != UINT32_MAX,
        .seq_cst = seq_cst,
    };
    for (uint32_t i = 0; i + 1 < count; i++) {
        struct access *a = &list[i];

        if (a->reads)
            a->read_at =
                position_of(a->location, a->from_thread, a->from_stamp);
        if (a->writes && !a->is_mark)
            a->write_at = position_of(a->location, a->thread, a->stamp);
    }
    new->read_at = 2 * (int64_t)from;
    new->write_at = 2 * (int64_t)position - 1;
    nodes_count = collect_nodes(count);
    spread_fences(count, nodes_count);
    build_edges(count, nodes_count);
    return !has_cycle(nodes_count);
}
