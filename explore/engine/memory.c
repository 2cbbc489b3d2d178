/*
 * memory.c -- C11 atomics, modelled by histories of stores and vector clocks.
 *
 *      location:  [init 0] [T0@3 1] [T1@2 2]        in modification order
 *                                      ^ choice 0; older ones are stale reads
 *
 * Example: thread 0 stores 1, then 2, in x; thread 1 loads x once. The history
 * is [0] [T0@1 1] [T0@2 2], so the load has three answers: 0 reads 2, 1 reads
 * 1, 2 reads the initial 0. If thread 1 has first acquired a release of thread
 * 0 made between the two stores, M2 hides the initial value and two are left.
 *
 * The model is RC11: Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing
 * sequential consistency in C/C++11" (PLDI 2017). Histories and stale reads are
 * as in Norris and Demsky, "CDSChecker" (OOPSLA 2013).
 *
 * Invariants
 *   M1  Stores are kept in modification order, and real memory holds the value
 *       of the last. A new store goes to the end, or in front of an older store
 *       that neither happens before it nor was read by an event that happens
 *       before it; but never between a read-modify-write and the store that it
 *       read.
 *   M2  A load returns the last store, or an older one that is not hidden.
 *       Store S hides all older stores from a load when S, or a load of S,
 *       happens before that load.
 *   M3  A read-modify-write reads a store that a load could return and that no
 *       other read-modify-write has read. It directly follows that store, and
 *       continues its release sequence.
 *   M4  seq_cst operations have a common order (seq_cst.c).
 *
 * No event happens before, or is read by, an event that ran earlier. So load
 * buffering does not occur; everything else that RC11 allows does.
 */
#include "explore/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"

enum event_kind {
    EVENT_LOAD = 1,
    EVENT_STORE,
    EVENT_RMW,
    EVENT_NEIGHBOURS = 32
};

/* ---- Events ---- */

static uint64_t
name_of(const struct store *s)
{
    return s->stamp | (uint64_t)s->thread << 32;
}

/* Neighbours in modification order are part of the graph. */
static void
hash_neighbours(struct engine *e, const struct location *l, uint32_t index,
                bool add)
{
    sim_engine_hash(
        e, name_of(&l->stores[index]) | (uint64_t)EVENT_NEIGHBOURS << 40,
        name_of(&l->stores[index - 1]), add);
}

static void
trace_read(struct trace_event *event, const struct location *l, uint32_t index)
{
    event->address = l->address;
    event->bytes = l->bytes;
    event->value = l->stores[index].value;
    event->from = l->stores[index].trace;
    event->newest = l->stores[l->stores_count - 1].trace;
    event->behind = l->stores_count - 1 - index;
}

/* Read store `index`: coherence, and what the store publishes. */
static void
read_store(struct engine *e, struct location *l, uint32_t index, int order,
           uintptr_t site)
{
    const uint32_t me = e->current;
    struct thread *t = sim_self(e);
    struct store *s = &l->stores[index];

    t->run.old_reads += index + 1 < l->stores_count;
    if (s->seen.at[me] == STAMP_NEVER) {
        s->seen.at[me] = t->run.now.at[me];
        t->run.new_reads += s->thread != me;
    }
    if (sim_acquires(order))
        sim_clock_join(&t->run.now, &s->sync);
    else
        sim_clock_join(&t->run.pending, &s->sync);
    l->read.at[me] = t->run.now.at[me];
    l->read_site[me] = site;
}

/* Make room for a store before store `index`, or at the end; not before the
 * first, which was there before all. */
static struct store *
store_insert(struct location *l, uint32_t index)
{
    if (l->stores_count == l->stores_room) {
        l->stores_room *= 2;
        l->stores =
            sim_need(realloc(l->stores, l->stores_room * sizeof *l->stores));
    }
    memmove(&l->stores[index + 1], &l->stores[index],
            (l->stores_count++ - index) * sizeof *l->stores);
    return &l->stores[index];
}

/* in: carried, by a read-modify-write from the store before; or NULL */
static void
write_store(struct engine *e, struct location *l, uint32_t index,
            uint64_t value, int order, const struct clock *carried,
            uintptr_t site)
{
    const uint32_t me = e->current;
    struct thread *t = sim_self(e);
    struct store *s;

    if (index < l->stores_count)
        hash_neighbours(e, l, index, false);
    s = store_insert(l, index);
    s->value = value;
    s->thread = me;
    s->stamp = t->run.now.at[me];
    s->is_rmw = carried != NULL;
    if (e->reduced)
        s->causal = t->run.causal;
    s->sync = sim_releases(order) ? t->run.now : t->run.release;
    if (carried != NULL)
        sim_clock_join(&s->sync, carried);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        s->seen.at[i] = STAMP_NEVER;
    s->trace = e->trace != NULL ? e->state.trace_count - 1 : TRACE_MAX;
    l->written.at[me] = s->stamp;
    l->write_site[me] = site;
    hash_neighbours(e, l, index, true);
    if (index + 1 == l->stores_count)
        sim_location_write(l->address, l->bytes, value);
    else
        hash_neighbours(e, l, index + 1, true);
    sim_repeat_note(e, site, value);
}

/* in: seq_cst, it is one of the accesses that have a total order */
static uint64_t
read_event(struct engine *e, struct location *l, uint32_t index, enum sim_op op,
           int order, bool seq_cst, uintptr_t site)
{
    const struct store *s = &l->stores[index];
    const uint64_t value = s->value;
    struct trace_event *event = sim_trace_add(e, op, site);

    sim_engine_event(e, EVENT_LOAD, name_of(s));
    if (event != NULL) {
        trace_read(event, l, index);
        event->order = order;
    }
    read_store(e, l, index, order, site);
    sim_location_check(e, l, false, site);
    if (e->reduced)
        sim_reduce_did(e, &l->chain, op == SIM_OP_CAS ? SIM_LOOK : SIM_LOAD,
                       &s->causal);
    sim_seq_cst_access(e, l, s, false, seq_cst, site);
    sim_repeat_note(e, site, value);
    sim_round_read(e, l->address, site);
    sim_wait_note(e, l, index, site);
    return value;
}

static uint64_t
load_event(struct engine *e, struct location *l, uint32_t index, enum sim_op op,
           int order, uintptr_t site)
{
    return read_event(e, l, index, op, order, order == __ATOMIC_SEQ_CST, site);
}

/* in: from, the index of the store that is read; the new one stands behind */
static void
rmw_event(struct engine *e, struct location *l, uint32_t from, enum sim_op op,
          uint64_t value, int order, uintptr_t site)
{
    const struct clock carried = l->stores[from].sync;
    const bool silent = value == l->stores[from].value;
    struct trace_event *event = sim_trace_add(e, op, site);

    sim_engine_event(e, EVENT_RMW, name_of(&l->stores[from]));
    if (event != NULL) {
        trace_read(event, l, from);
        event->written = value;
        event->order = order;
        event->ok = true;
    }
    read_store(e, l, from, order, site);
    sim_location_check(e, l, true, site);
    if (e->reduced)
        sim_reduce_did(e, &l->chain, SIM_CHANGE, &l->stores[from].causal);
    sim_seq_cst_access(e, l, &l->stores[from], true, order == __ATOMIC_SEQ_CST,
                       site);
    write_store(e, l, from + 1, value, order, &carried, site);
    if (silent) { /* a lock that is taken may be taken once more */
        sim_round_read(e, l->address, site);
        sim_wait_note(e, l, from, site);
    } else {
        sim_wait_wrote(e);
    }
}

/* ---- The operations ---- */

uint64_t
sim_atomic_load(struct engine *e, uintptr_t address, uint32_t bytes, int order,
                uintptr_t site)
{
    struct reading reading;
    struct location *l;
    uint64_t value;

    sim_wait_enter(e, site);
    if (sim_self(e)->run.probing) {
        l = sim_location_of(e, address, bytes, site);
        if (sim_wait_probe(e, l, &value, site))
            return value;
    }
    sim_engine_point(e, site);
    l = sim_location_of(e, address, bytes, site);
    reading = (struct reading){.location = l, .order = order};
    value = load_event(e, l, sim_sources_choose(e, &reading), SIM_OP_LOAD,
                       order, site);
    sim_engine_after_event(e);
    return value;
}

void
sim_atomic_store(struct engine *e, uintptr_t address, uint32_t bytes,
                 uint64_t value, int order, uintptr_t site)
{
    struct location *l;
    struct trace_event *event;
    uint32_t position;

    sim_engine_point(e, site);
    l = sim_location_of(e, address, bytes, site);
    sim_location_check(e, l, true, site);
    if (e->reduced)
        sim_reduce_enter(e);
    position = sim_sources_position(e, l, order);
    event = sim_trace_add(e, SIM_OP_STORE, site);
    sim_engine_event(e, EVENT_STORE, 0);
    if (event != NULL) {
        event->address = address;
        event->bytes = bytes;
        event->value = value;
        event->order = order;
        if (position < l->stores_count)
            event->before = l->stores[position].trace;
    }
    if (e->reduced)
        sim_reduce_did(e, &l->chain, SIM_STORE, NULL);
    sim_seq_cst_access(e, l, NULL, true, order == __ATOMIC_SEQ_CST, site);
    write_store(e, l, position, value, order, NULL, site);
    sim_wait_wrote(e);
    sim_engine_after_event(e);
    if (e->reduced)
        sim_offer_later(e, &l->chain, true);
}

uint64_t
sim_atomic_rmw(struct engine *e, uintptr_t address, uint32_t bytes,
               uint64_t (*change)(uint64_t old, uint64_t operand),
               uint64_t operand, int order, uintptr_t site)
{
    const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    struct reading reading;
    struct location *l;
    uint32_t from;
    uint64_t old;

    sim_wait_enter(e, site);
    if (sim_self(e)->run.probing) {
        l = sim_location_of(e, address, bytes, site);
        old = l->stores[l->stores_count - 1].value;
        if ((change(old, operand) & mask) != old)
            sim_wait_before_write(e, l, site);
        else if (sim_wait_probe(e, l, &old, site))
            return old;
    }
    sim_engine_point(e, site);
    l = sim_location_of(e, address, bytes, site);
    reading = (struct reading){.location = l, .writes = true, .order = order};
    if (e->reduced)
        sim_reduce_enter(e);
    from = sim_sources_choose(e, &reading);
    old = l->stores[from].value;
    rmw_event(e, l, from, SIM_OP_RMW, change(old, operand) & mask, order, site);
    sim_engine_after_event(e);
    if (e->reduced)
        sim_offer_later(e, &l->chain, true);
    return old;
}

bool
sim_atomic_cas(struct engine *e, uintptr_t address, uint32_t bytes,
               uint64_t *expected, uint64_t desired, int order,
               int order_failure, bool weak, uintptr_t site)
{
    struct reading reading;
    struct location *l;
    uint32_t index;
    bool done;

    sim_wait_enter(e, site);
    if (sim_self(e)->run.probing) {
        uint64_t found;

        l = sim_location_of(e, address, bytes, site);
        if (l->stores[l->stores_count - 1].value == *expected) {
            sim_wait_before_write(e, l, site);
        } else if (sim_wait_probe(e, l, &found, site)) {
            *expected = found;
            return false;
        }
    }
    sim_engine_point(e, site);
    /* Whether a compare-exchange writes is not known yet. If it races with a
     * plain read, the runs in which it writes show that. */
    l = sim_location_of(e, address, bytes, site);
    reading = (struct reading){.location = l,
                               .writes = true,
                               .expected = expected,
                               .order = order,
                               .order_failure = order_failure};
    if (e->reduced)
        sim_reduce_enter(e);
    index = sim_sources_choose(e, &reading);
    done = l->stores[index].value == *expected &&
           !(weak && sim_engine_spurious(e));
    if (done)
        rmw_event(e, l, index, SIM_OP_CAS, desired, order, site);
    else
        *expected = load_event(e, l, index, SIM_OP_CAS, order_failure, site);
    sim_engine_after_event(e);
    if (done && e->reduced)
        sim_offer_later(e, &l->chain, true);
    return done;
}

/*
 * Read a word as the system does on a thread's behalf: a seq_cst load from
 * which the thread learns nothing.
 *
 * in:      told, what the system knows from earlier calls
 */
uint64_t
sim_memory_system_read(struct engine *e, uintptr_t address, uint32_t bytes,
                       const struct clock *reported, uintptr_t site)
{
    struct location *l = sim_location_of(e, address, bytes, site);
    struct reading reading = {
        .location = l, .order = __ATOMIC_RELAXED, .reported = reported};

    sim_self(e)->run.entry_state = 0;
    return read_event(e, l, sim_sources_choose(e, &reading), SIM_OP_LOAD,
                      __ATOMIC_RELAXED, true, site);
}
