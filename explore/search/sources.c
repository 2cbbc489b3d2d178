/*
 * sources.c -- which store a read takes, and where a new store goes (M1 to M4
 * of memory.c).
 */
#include "explore/engine/engine.h"
#include "explore/search/futile.h"

static bool
covers(const struct clock *clock, const struct store *s)
{
    return clock->at[s->thread] >= s->stamp;
}

/* Does the store, or a load of it, happen before the access (M1, M2)? */
static bool
is_known(const struct thread *t, const struct store *s)
{
    return covers(&t->run.now, s) || sim_clock_knows_any(&t->run.now, &s->seen);
}

/* The clock of the access, if it reads store `from`. */
static struct clock
clock_of(struct engine *e, const struct location *l, uint32_t from, int order)
{
    struct clock now = sim_self(e)->run.now;

    now.at[e->current]++;
    if (from != UINT32_MAX && sim_acquires(order))
        sim_clock_join(&now, &l->stores[from].sync);
    return now;
}

/* Is the access compatible with seq_cst operations? The last store always
 * is. */
static bool
fits(struct engine *e, const struct location *l, uint32_t from,
     uint32_t position, int order, bool seq_cst)
{
    struct clock now;

    if (e->state.seq_cst_fences + e->state.seq_cst_accesses == 0)
        return true;
    now = clock_of(e, l, from, order);
    return sim_seq_cst_allows(e, l, from, position, seq_cst, &now);
}

/* Has a read-modify-write read store `index`? Then its own store follows
 * directly. */
static bool
is_taken(const struct location *l, uint32_t index)
{
    return index + 1 < l->stores_count && l->stores[index + 1].is_rmw;
}

/* Refuse too many candidates: a search without some is not exhaustive. */
static void
check_room(struct engine *e, uint32_t count)
{
    if (count == CANDIDATES_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, sim_self(e)->run.next_site, 0,
                          "an access has more than 512 stores to choose from");
}

/* Choose one of `count` stores or positions, the most ordinary first. */
static uint32_t
choose(struct engine *e, const uint32_t *found, uint32_t count, uint16_t label)
{
    uint32_t picked;

    if (count == 1)
        return found[0];
    label |= (uint16_t)e->current;
    picked = sim_engine_ask(e, count, SIM_STALE, label);
    if (picked != 0 && label < SIM_LABEL_STORE)
        e->run->stale++;
    return found[picked];
}

/* May the access read this store? Not called for the last store, which any
 * access may read. */
static bool
may_read(struct engine *e, const struct reading *r, uint32_t index)
{
    const struct location *l = r->location;
    const bool takes = r->writes && (r->expected == NULL ||
                                     l->stores[index].value == *r->expected);
    const int order = r->writes && !takes ? r->order_failure : r->order;

    return !(takes && is_taken(l, index)) &&
           fits(e, l, index, takes ? index + 1 : UINT32_MAX, order,
                r->reported != NULL || order == __ATOMIC_SEQ_CST);
}

/*
 * List the stores that the access may read, the last one first. For a
 * compare-exchange these include the stores with which it fails.
 */
static uint32_t
list_sources(struct engine *e, const struct reading *r, uint32_t *found)
{
    const struct location *l = r->location;
    const struct thread *t = sim_self(e);
    const uint32_t least = l->least.at[e->current];
    uint32_t i = l->stores_count - 1;
    uint32_t count = 1;

    found[0] = i;
    while (i > least && !is_known(t, &l->stores[i])) {
        check_room(e, count);
        i--;
        if (may_read(e, r, i))
            found[count++] = i;
    }
    return count;
}

/* List the sources of a read by the system, which knows more than the thread.
 */
static __attribute__((noinline)) uint32_t
list_for_system(struct engine *e, const struct reading *r, uint32_t *found)
{
    struct thread *t = sim_self(e);
    const struct clock now = t->run.now;
    uint32_t count;

    sim_clock_join(&t->run.now, r->reported);
    count = list_sources(e, r, found);
    t->run.now = now;
    return count;
}

static uint32_t
sources_of(struct engine *e, const struct reading *r, uint32_t *found)
{
    return r->reported == NULL ? list_sources(e, r, found)
                               : list_for_system(e, r, found);
}

/* The store just made by the thread that the running one waited for. */
static uint32_t
just_written(struct engine *e, const struct location *l)
{
    const uint32_t writer = sim_self(e)->run.waits_for_thread;
    const uint32_t stamp = e->threads[writer].run.offered_stamp;
    uint32_t i = l->stores_count - 1;

    while (i > 0 &&
           (l->stores[i].thread != writer || l->stores[i].stamp != stamp))
        i--;
    return i;
}

static bool
can_read_it(void *context)
{
    struct engine *e = &sim_engine;
    const struct reading *r = context;
    const uint32_t index = just_written(e, r->location);
    uint32_t found[CANDIDATES_MAX];
    const uint32_t count = sources_of(e, r, found);

    for (uint32_t i = 0; i < count; i++) {
        if (found[i] == index)
            return true;
    }
    return false;
}

/* The sources that only lead round the access's wait loop. */
static uint64_t
futile_of(struct engine *e, const struct location *l, const uint32_t *found,
          uint32_t count)
{
    const uint64_t name = sim_self(e)->run.read_name;
    const uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : 0;
    uint64_t futile = 0;

    if (name == 0)
        return 0;
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (sim_futile_knows(e, name, l->stores[found[i]].value))
            futile |= UINT64_C(1) << i;
    }
    /* Keep the last store: a livelock is a thread that reads it for ever. */
    return futile == all ? futile : futile & ~UINT64_C(1);
}

static __attribute__((noinline)) uint32_t
choose_reduced(struct engine *e, struct reading *r)
{
    struct location *l = r->location;
    struct thread *t = sim_self(e);
    uint32_t found[CANDIDATES_MAX];
    uint32_t picked;
    uint32_t count;

    t->run.read_name = sim_futile_name(e, l);
    t->run.blocks = false;
    t->run.can_take = can_read_it;
    t->run.can_take_context = r;
    do {
        count = sources_of(e, r, found);
        picked =
            sim_reduce_read(e, &l->chain, count, futile_of(e, l, found, count));
    } while (picked == SIM_STAYED);
    if (picked < count)
        return found[picked];
    /* The thread has waited, meanwhile others ran: is this still a location? */
    sim_location_of(e, l->address, l->bytes, t->run.next_site);
    return just_written(e, l);
}

/* Choose the store that the access reads. returns: its index */
uint32_t
sim_sources_choose(struct engine *e, struct reading *r)
{
    uint32_t found[CANDIDATES_MAX];
    uint32_t count;

    if (e->reduced)
        return choose_reduced(e, r);
    count = sources_of(e, r, found);
    if (e->script_runs)
        return sim_script_choose(e, r->location, found, count, false);
    return choose(e, found, count, 0);
}

/* The index that a new store will have in modification order. */
uint32_t
sim_sources_position(struct engine *e, const struct location *l, int order)
{
    const struct thread *t = sim_self(e);
    const uint32_t least = l->least.at[e->current];
    uint32_t found[CANDIDATES_MAX];
    uint32_t count = 0;

    found[count++] = l->stores_count;
    for (uint32_t i = l->stores_count - 1; i > least; i--) {
        const struct store *s = &l->stores[i];

        if (is_known(t, s))
            break;
        check_room(e, count);
        if (!s->is_rmw &&
            fits(e, l, UINT32_MAX, i, order, order == __ATOMIC_SEQ_CST))
            found[count++] = i;
    }
    if (e->script_runs)
        return sim_script_choose(e, l, found, count, true);
    return choose(e, found, count, SIM_LABEL_STORE);
}
