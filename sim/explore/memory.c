/*
 * memory.c -- C11 atomics by store history and vector clocks.
 *
 *      location:  [init 0] [T0@3 1] [T1@2 2]        oldest .. newest
 *                                      ^ choice 0; older ones are stale reads
 *
 * Invariants
 *   M1  Modification order is the order of execution, and real memory holds
 *       the newest value of every location.
 *   M2  A load returns the newest store, or an older one that is not hidden:
 *       store S hides all older ones from thread T when T knows S, or knows a
 *       load of S, or both are seq_cst, or seq_cst fences put S before T.
 *   M3  A read-modify-write reads the newest store and carries on its release
 *       sequence.
 *
 * Therefore not produced: load buffering (a load cannot see the future) and
 * the fourth outcome of 2+2W (a store cannot slip before an executed one).
 * A seq_cst fence joins the clocks of earlier ones outright; C11 gives less
 * for races that only fences order, and exactly this for values.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum event_kind { EVENT_LOAD = 1, EVENT_STORE, EVENT_RMW };

/* ---- Places ---- */

static uint64_t
memory_read(uintptr_t address, uint32_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, (const void *)address, bytes); /* little endian */
    return value;
}

static void
memory_write(uintptr_t address, uint32_t bytes, uint64_t value)
{
    switch (bytes) {
    case 1:
        *(uint8_t *)address = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)address = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)address = (uint32_t)value;
        break;
    default:
        *(uint64_t *)address = value;
        break;
    }
}

struct word *
sim_memory_word(uintptr_t address, uintptr_t site)
{
    struct engine *e = &sim_engine;
    const uint64_t mask = (1U << WORDS_LOG2) - 1;
    uint64_t i = (address >> 3) * 0x9e3779b97f4a7c15U >> (64 - WORDS_LOG2);

    while (e->words[i].run == e->run_number) {
        if (e->words[i].address == address)
            return &e->words[i];
        i = (i + 1) & mask;
    }
    if (++e->words_used > mask / 4 * 3)
        sim_engine_refuse(SIM_FAIL_LIMIT, site, 0,
                          "the threads touch too many different words");
    e->words[i] = (struct word){.address = address, .run = e->run_number};
    return &e->words[i];
}

static struct location *
location_new(struct word *word, uintptr_t address, uint32_t bytes, uint8_t mask,
             uintptr_t site)
{
    struct engine *e = &sim_engine;
    struct location *l;

    if ((word->atomic_mask & mask) != 0)
        sim_engine_refuse(SIM_FAIL_MIXED_SIZE, site, 0,
                          "atomic accesses of different size to one place");
    if (e->locations_count == LOCATIONS_MAX)
        sim_engine_refuse(SIM_FAIL_LIMIT, site, 0,
                          "the threads touch too many atomics");
    l = &e->locations[e->locations_count++];
    if (l->stores == NULL) {
        l->stores_room = 8;
        l->stores = malloc(l->stores_room * sizeof *l->stores);
        if (l->stores == NULL)
            abort();
    }
    *l = (struct location){.address = address,
                           .bytes = bytes,
                           .mask = mask,
                           .next = word->locations,
                           .stores_count = 1,
                           .stores_room = l->stores_room,
                           .stores = l->stores};
    l->stores[0] = (struct store){.value = memory_read(address, bytes),
                                  .trace = TRACE_MAX};
    word->locations = e->locations_count;
    word->atomic_mask |= mask;
    return l;
}

static struct location *
location_of(uintptr_t address, uint32_t bytes, bool write, uintptr_t site)
{
    const uint32_t offset = (uint32_t)(address & 7);
    const uint8_t mask = (uint8_t)(((1U << bytes) - 1) << offset);
    struct word *word;

    if (address % bytes != 0)
        sim_engine_refuse(SIM_FAIL_MIXED_SIZE, site, 0, "a misaligned atomic");
    word = sim_memory_word(address - offset, site);
    if (word->cells != 0)
        sim_plain_check_atomic(word, mask, write, site);
    for (uint32_t i = word->locations; i != 0;) {
        struct location *l = &sim_engine.locations[i - 1];

        if (l->mask == mask) {
            if (l->reloaded) {
                l->reloaded = false;
                l->stores[0].value = memory_read(address, bytes);
            }
            return l;
        }
        i = l->next;
    }
    return location_new(word, address, bytes, mask, site);
}

/* ---- What a load may return ---- */

static bool
covers(const struct clock *clock, const struct store *s)
{
    return clock->at[s->thread] >= s->stamp;
}

/* Does T know S, or a load of S (M2)? */
static bool
hides_older(const struct thread *t, const struct store *s, bool seq_cst)
{
    const struct engine *e = &sim_engine;

    if (covers(&t->now, s) || covers(&t->floor, s))
        return true;
    if (seq_cst && (s->seq_cst || covers(&e->seq_cst, s)))
        return true;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (s->seen.at[i] <= t->now.at[i])
            return true;
    }
    return false;
}

/*
 * The stores a load may return, newest first. With `expected`, the newest and
 * those older ones that make a compare-exchange fail.
 */
static uint32_t
visible(const struct location *l, bool seq_cst, const uint64_t *expected,
        uint32_t *found)
{
    const struct thread *t = sim_self();
    const uint32_t least = l->least.at[sim_engine.current];
    uint32_t count = 0;

    for (uint32_t i = l->stores_count; i-- > 0;) {
        const struct store *s = &l->stores[i];

        if (count == 0 || expected == NULL || s->value != *expected)
            found[count++] = i;
        if (i <= least || count == CANDIDATES_MAX || hides_older(t, s, seq_cst))
            break;
    }
    return count;
}

static uint32_t
choose_store(const struct location *l, int order, const uint64_t *expected)
{
    uint32_t found[CANDIDATES_MAX];
    const uint32_t count =
        visible(l, order == __ATOMIC_SEQ_CST, expected, found);
    uint32_t picked;

    if (count == 1)
        return found[0];
    picked = sim_engine_ask(count, SIM_STALE, (uint16_t)sim_engine.current);
    if (picked != 0)
        sim_engine.run->stale++;
    return found[picked];
}

/* ---- Events ---- */

static uint64_t
order_detail(uint64_t detail, bool seq_cst)
{
    return seq_cst ? detail | (uint64_t)sim_engine.seq_cst_fences << 40
                   : detail;
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

/* Take part in store `index`: coherence, and what it publishes. */
static void
read_store(struct location *l, uint32_t index, int order, uintptr_t site)
{
    const uint32_t me = sim_engine.current;
    struct thread *t = sim_self();
    struct store *s = &l->stores[index];

    if (s->seen.at[me] == 0 || s->seen.at[me] == STAMP_NEVER)
        s->seen.at[me] = t->now.at[me];
    if (sim_acquires(order))
        sim_clock_join(&t->now, &s->sync);
    else
        sim_clock_join(&t->pending, &s->sync);
    l->read.at[me] = t->now.at[me];
    l->read_site[me] = site;
}

static struct store *
store_append(struct location *l)
{
    if (l->stores_count == l->stores_room) {
        l->stores_room *= 2;
        l->stores = realloc(l->stores, l->stores_room * sizeof *l->stores);
        if (l->stores == NULL)
            abort();
    }
    return &l->stores[l->stores_count++];
}

static void
write_store(struct location *l, uint64_t value, int order,
            const struct clock *carried, uintptr_t site)
{
    const uint32_t me = sim_engine.current;
    struct thread *t = sim_self();
    struct store *s = store_append(l);

    t->round.count = 0;
    t->round.real = 0;
    s->value = value;
    s->thread = me;
    s->stamp = t->now.at[me];
    s->seq_cst = order == __ATOMIC_SEQ_CST;
    s->sync = sim_releases(order) ? t->now : t->release;
    if (carried != NULL)
        sim_clock_join(&s->sync, carried);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        s->seen.at[i] = STAMP_NEVER;
    s->seen.at[me] = s->stamp;
    s->trace =
        sim_engine.trace != NULL ? sim_engine.trace_count - 1 : TRACE_MAX;
    if (s->seq_cst)
        sim_engine.seq_cst_store.at[me] = s->stamp;
    l->written.at[me] = s->stamp;
    l->write_site[me] = site;
    memory_write(l->address, l->bytes, value);
    sim_repeat_note(site, value);
}

static uint64_t
load_event(struct location *l, uint32_t index, enum sim_op op, int order,
           uintptr_t site)
{
    const struct store *s = &l->stores[index];
    const uint64_t value = s->value;
    struct trace_event *event = sim_trace_add(op, site);

    sim_engine_event(EVENT_LOAD,
                     order_detail(s->stamp | (uint64_t)s->thread << 32,
                                  order == __ATOMIC_SEQ_CST));
    if (event != NULL) {
        trace_read(event, l, index);
        event->order = order;
    }
    read_store(l, index, order, site);
    sim_repeat_note(site, value ^ (uint64_t)op << 56);
    sim_wait_note(l, s, site);
    return value;
}

static void
rmw_event(struct location *l, enum sim_op op, uint64_t value, int order,
          uintptr_t site)
{
    const uint32_t newest = l->stores_count - 1;
    struct trace_event *event = sim_trace_add(op, site);
    struct clock carried;
    const bool silent = value == l->stores[newest].value;

    sim_engine_event(EVENT_RMW,
                     order_detail(newest, order == __ATOMIC_SEQ_CST));
    if (event != NULL) {
        trace_read(event, l, newest);
        event->written = value;
        event->order = order;
        event->ok = true;
    }
    read_store(l, newest, order, site);
    carried = l->stores[newest].sync;
    write_store(l, value, order, &carried, site);
    if (silent) /* a lock that is taken may be taken once more */
        sim_wait_note(l, &l->stores[l->stores_count - 1], site);
}

/* ---- The operations ---- */

uint64_t
sim_atomic_load(uintptr_t address, uint32_t bytes, int order, uintptr_t site)
{
    struct location *l;
    uint64_t value;

    sim_wait_enter(site);
    if (sim_self()->probing) {
        l = location_of(address, bytes, false, site);
        if (sim_wait_probe(l, &value, site))
            return value;
    }
    sim_engine_point(site);
    l = location_of(address, bytes, false, site);
    value =
        load_event(l, choose_store(l, order, NULL), SIM_OP_LOAD, order, site);
    sim_engine_after_event();
    return value;
}

void
sim_atomic_store(uintptr_t address, uint32_t bytes, uint64_t value, int order,
                 uintptr_t site)
{
    struct location *l;
    struct trace_event *event;

    sim_engine_point(site);
    l = location_of(address, bytes, true, site);
    event = sim_trace_add(SIM_OP_STORE, site);
    sim_engine_event(EVENT_STORE,
                     order_detail(l->stores_count, order == __ATOMIC_SEQ_CST));
    if (event != NULL) {
        event->address = address;
        event->bytes = bytes;
        event->value = value;
        event->order = order;
    }
    write_store(l, value, order, NULL, site);
    sim_engine_after_event();
}

uint64_t
sim_atomic_rmw(uintptr_t address, uint32_t bytes,
               uint64_t (*change)(uint64_t old, uint64_t operand),
               uint64_t operand, int order, uintptr_t site)
{
    const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    struct location *l;
    uint64_t old;

    sim_wait_enter(site);
    if (sim_self()->probing) {
        l = location_of(address, bytes, false, site);
        old = l->stores[l->stores_count - 1].value;
        if ((change(old, operand) & mask) == old &&
            sim_wait_probe(l, &old, site))
            return old;
    }
    sim_engine_point(site);
    l = location_of(address, bytes, true, site);
    old = l->stores[l->stores_count - 1].value;
    rmw_event(l, SIM_OP_RMW, change(old, operand) & mask, order, site);
    sim_engine_after_event();
    return old;
}

static bool
fails_spuriously(bool weak)
{
    struct engine *e = &sim_engine;

    if (!weak || e->spurious_left == 0)
        return false;
    if (sim_engine_ask(2, SIM_FAULT, (uint16_t)e->current) == 0)
        return false;
    e->spurious_left--;
    return true;
}

bool
sim_atomic_cas(uintptr_t address, uint32_t bytes, uint64_t *expected,
               uint64_t desired, int order, int order_failure, bool weak,
               uintptr_t site)
{
    struct location *l;
    uint32_t index;
    bool done;

    sim_wait_enter(site);
    if (sim_self()->probing) {
        uint64_t found;

        l = location_of(address, bytes, false, site);
        if (l->stores[l->stores_count - 1].value != *expected &&
            sim_wait_probe(l, &found, site)) {
            *expected = found;
            return false;
        }
    }
    sim_engine_point(site);
    /* Whether it writes is not known yet: a race with a plain read shows in
     * the runs where it does. */
    l = location_of(address, bytes, false, site);
    index = choose_store(l, order_failure, expected);
    done = index == l->stores_count - 1 &&
           l->stores[index].value == *expected && !fails_spuriously(weak);
    if (done) {
        location_of(address, bytes, true, site);
        rmw_event(l, SIM_OP_CAS, desired, order, site);
    } else {
        *expected = load_event(l, index, SIM_OP_CAS, order_failure, site);
    }
    sim_engine_after_event();
    return done;
}

/*
 * What the system finds in memory on a thread's behalf: the newest value.
 * The thread does not fall behind it again, but learns nothing else.
 *
 * out:     *index, of the store in modification order
 */
uint64_t
sim_memory_newest(uintptr_t address, uint32_t bytes, uintptr_t site,
                  uint32_t *index)
{
    struct location *l = location_of(address, bytes, false, site);

    *index = l->stores_count - 1;
    l->least.at[sim_engine.current] = *index;
    return l->stores[*index].value;
}
