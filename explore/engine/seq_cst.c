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
 * Example, store buffering: W x=1; R y on one thread, W y=1; R x on the other,
 * all seq_cst. If both reads were to return 0, reads-before would lead from
 * R y to W y and from R x to W x, program order from each W to its R: the cycle
 * W x, R y, W y, R x. So the second read may not take the initial value.
 *
 * psc is from Lahav and others (PLDI 2017; see memory.c).
 *
 * A read of the newest store, or a store at the end of the modification order,
 * comes after everything else: no edge leads from it, so it closes no cycle. So
 * only other accesses are checked. The order of execution does not matter.
 *
 * Steps of program order may also lead to an operation that is no access: on a
 * lock, say, or the creation of a thread. So these are on the list, too.
 *
 * Where f happens before f', no edge is added for that alone. Another one leads
 * there, too: by program order, if the next operation of f's thread happens
 * before f'; by eco, if a store behind f is read before f'.
 */
#include "explore/engine/engine.h"

#include <stdlib.h>

#include "explore/engine/need.h"

enum { ACCESSES_MAX = 1 << 15, NODES_MAX = SIM_NODES_MAX };

typedef sim_node_set node_set;

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
    int64_t read_at; /* while checking: position of the store read */
    int64_t write_at;
    node_set left;  /* nodes that lead here by happens-before, and itself */
    node_set right; /* nodes that this leads to so */
};

static const struct location marks; /* of all marks */

static inline node_set
only(uint32_t node)
{
    return (node_set)1 << node;
}

static inline bool
has(node_set set, uint32_t node)
{
    return (set & only(node)) != 0;
}

/* ---- The accesses of the run ---- */

void
sim_seq_cst_open(struct engine *e)
{
    e->seq_cst.list =
        sim_need(calloc(ACCESSES_MAX + 1, sizeof *e->seq_cst.list));
}

static inline struct access *
access_new(struct engine *e, uint32_t thread, const struct location *location,
           bool seq_cst, uintptr_t site)
{
    const struct thread *t = &e->threads[thread];
    struct access *a = &e->seq_cst.list[e->state.accesses_count];

    if (seq_cst)
        (*(location == NULL     ? &e->state.seq_cst_fences
           : location == &marks ? &e->state.seq_cst_marks
                                : &e->state.seq_cst_accesses))++;
    if (e->state.accesses_count == ACCESSES_MAX ||
        e->state.seq_cst_accesses + e->state.seq_cst_fences +
                e->state.seq_cst_marks >=
            NODES_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the run has too many seq_cst operations");
    e->state.accesses_count++;
    a->location = location;
    a->now = t->run.now;
    a->thread = thread;
    a->stamp = t->run.now.at[thread];
    a->reads = false;
    a->writes = false;
    a->seq_cst = seq_cst;
    return a;
}

/* in: from, the store that was read, or NULL */
void
sim_seq_cst_access(struct engine *e, const struct location *location,
                   const struct store *from, bool writes, bool seq_cst,
                   uintptr_t site)
{
    struct access *a = access_new(e, e->current, location, seq_cst, site);

    a->writes = writes;
    if (from == NULL)
        return;
    a->reads = true;
    a->from_thread = from->thread;
    a->from_stamp = from->stamp;
}

void
sim_seq_cst_fence(struct engine *e, uintptr_t site)
{
    access_new(e, e->current, NULL, true, site);
}

/* An operation that is no access has told others what the thread knows, or has
 * learned from others. Before the first seq_cst operation it cannot matter. */
void
sim_seq_cst_sync_of(struct engine *e, uint32_t thread)
{
    if (e->state.seq_cst_accesses + e->state.seq_cst_fences > 0)
        access_new(e, thread, NULL, false, e->threads[thread].run.last_site);
}

void
sim_seq_cst_sync(struct engine *e)
{
    sim_seq_cst_sync_of(e, e->current);
}

/* Marks stand in the order in which they were made: writes to one place. */
void
sim_seq_cst_mark(struct engine *e, uint64_t number, uintptr_t site)
{
    struct access *a = access_new(e, e->current, &marks, true, site);

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
    return b->writes && ((a->writes && a->write_at < b->write_at) ||
                         (a->reads && a->read_at < b->write_at));
}

/* Reads-from behind one of these or by itself. The rest of eco is in scb. */
static bool
is_read_after(const struct access *a, const struct access *b)
{
    return b->reads && ((a->writes && a->write_at <= b->read_at) ||
                        (a->reads && a->read_at < b->read_at));
}

/* The latest access before b in its thread, to another place; or NULL. */
static const struct access *
other_before(struct engine *e, const struct access *b)
{
    for (const struct access *a = b; a-- > e->seq_cst.list;) {
        if (a->thread == b->thread && !same_place(a, b))
            return a;
    }
    return NULL;
}

static const struct access *
other_after(struct engine *e, uint32_t count, const struct access *a)
{
    for (const struct access *b = a + 1; b < e->seq_cst.list + count; b++) {
        if (b->thread == a->thread && !same_place(a, b))
            return b;
    }
    return NULL;
}

static bool
scb(struct engine *e, uint32_t count, const struct access *a,
    const struct access *b)
{
    const struct access *after;
    const struct access *before;

    if (a->thread == b->thread && a->stamp < b->stamp)
        return true;
    if (same_place(a, b) && (happens_before(a, b) || overtakes(a, b)))
        return true;
    after = other_after(e, count, a);
    before = other_before(e, b);
    return after != NULL && before != NULL && happens_before(after, before);
}

/* ---- psc ---- */

static int64_t
position_of(const struct location *l, uint32_t thread, uint32_t stamp)
{
    uint32_t i = l->stores_count - 1;

    /* The first one, or a plain write came over it. */
    while (i > 0 &&
           (l->stores[i].thread != thread || l->stores[i].stamp != stamp))
        i--;
    return 2 * (int64_t)i;
}

static uint32_t
collect_nodes(struct engine *e, uint32_t count)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        e->seq_cst.list[i].left = e->seq_cst.list[i].right = 0;
        if (e->seq_cst.list[i].seq_cst) {
            e->seq_cst.list[i].left = e->seq_cst.list[i].right = only(found);
            e->seq_cst.edges[found] = 0;
            e->seq_cst.nodes[found++] = i;
        }
    }
    return found;
}

/*
 * A fence leads to what happens after it, and the other way round.
 *
 * returns: the fences
 */
static node_set
spread_fences(struct engine *e, uint32_t count, uint32_t nodes_count)
{
    node_set fences = 0;

    for (uint32_t n = 0; n < nodes_count; n++) {
        const struct access *f = &e->seq_cst.list[e->seq_cst.nodes[n]];

        if (f->location != NULL)
            continue;
        fences |= only(n);
        for (uint32_t i = 0; i < count; i++) {
            if (happens_before(f, &e->seq_cst.list[i]))
                e->seq_cst.list[i].left |= only(n);
            if (happens_before(&e->seq_cst.list[i], f))
                e->seq_cst.list[i].right |= only(n);
        }
    }
    return fences;
}

static void
connect(struct engine *e, node_set from, node_set to, uint32_t nodes_count)
{
    for (uint32_t n = 0; n < nodes_count; n++) {
        if (has(from, n))
            e->seq_cst.edges[n] |= to;
    }
}

static void
build_edges(struct engine *e, uint32_t count, uint32_t nodes_count,
            node_set fences)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct access *a = &e->seq_cst.list[i];

        if (a->left == 0)
            continue;
        for (uint32_t j = 0; j < count; j++) {
            const struct access *b = &e->seq_cst.list[j];

            if (i == j || b->right == 0)
                continue;
            if (scb(e, count, a, b))
                connect(e, a->left, b->right, nodes_count);
            if (same_place(a, b) && is_read_after(a, b))
                connect(e, a->left & fences, b->right & fences, nodes_count);
        }
    }
}

static bool
has_cycle(struct engine *e, uint32_t nodes_count)
{
    for (uint32_t k = 0; k < nodes_count; k++) {
        for (uint32_t i = 0; i < nodes_count; i++) {
            if (has(e->seq_cst.edges[i], k))
                e->seq_cst.edges[i] |= e->seq_cst.edges[k];
        }
    }
    for (uint32_t i = 0; i < nodes_count; i++) {
        if (has(e->seq_cst.edges[i], i))
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
sim_seq_cst_allows(struct engine *e, const struct location *l, uint32_t from,
                   uint32_t position, bool seq_cst, const struct clock *now)
{
    const uint32_t count = e->state.accesses_count + 1;
    struct access *new = &e->seq_cst.list[e->state.accesses_count];
    uint32_t nodes_count;

    if (e->state.seq_cst_fences + e->state.seq_cst_accesses + seq_cst < 2 ||
        (!seq_cst && e->state.seq_cst_fences == 0))
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
        struct access *a = &e->seq_cst.list[i];

        if (a->reads)
            a->read_at =
                position_of(a->location, a->from_thread, a->from_stamp);
        if (a->writes && a->location != &marks)
            a->write_at = position_of(a->location, a->thread, a->stamp);
    }
    new->read_at = 2 * (int64_t)from;
    new->write_at = 2 * (int64_t)position - 1;
    nodes_count = collect_nodes(e, count);
    build_edges(e, count, nodes_count, spread_fences(e, count, nodes_count));
    return !has_cycle(e, nodes_count);
}
