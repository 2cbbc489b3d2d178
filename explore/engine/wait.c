/*
 * wait.c -- rounds of wait loops: decides when a thread may be left waiting.
 *
 * At the end of an unsuccessful round (a pause instruction, or
 * sim_explore_spin_wait) the thread repeats the round as a probe: its loads
 * return the newest values, are no events and take no choices. If the probe
 * begins with the same registers and stack as the round, the loop is a pure
 * wait, and the probe can end in two ways:
 *
 *   stale    The probe reads a newer value than the round. Exhaustive search
 *            ends the run, because another run reads that value in the first
 *            place. A sampled run goes on, and does not read the old value
 *            again.
 *   waiting  The probe comes round without having written: only another
 *            thread's store to a location that it read can end the loop.
 *            Exhaustive search does not run the thread again; in a sampled run
 *            it sleeps until there is such a store.
 *
 * If the state differs, the loop counts its rounds, or its first round was
 * unlike the others. Then `unroll` more rounds are explored like any code.
 * After these the probe goes round until the loop ends. What could have
 * happened in those rounds is not explored, and the run is marked `bounded`.
 *
 * When no other thread can run, each waiting thread goes round once more with
 * the newest values. If all of them wait again, nothing will ever change.
 *
 * Reading the state of a thread costs more than a load, so it is read only at
 * sites known to be in a wait loop. A search that meets a new one restarts
 * (sim_engine.learned).
 */
#include "explore/engine/engine.h"
#include "explore/search/frontier.h"
#include "explore/search/futile.h"

#include <string.h>

enum {
    ROUNDS_MAX = 4096,
    CLEARED_BYTES_MIN = 2048 /* of a stack; more than most loops are deep */
};

/* ---- The state of the calling code ---- */

struct sim_caller sim_caller;

static bool
is_loop_site(struct engine *e, uintptr_t site)
{
    for (uint32_t i = 0; i < e->loop_sites_count; i++) {
        if (e->loop_sites[i] == site)
            return true;
    }
    return false;
}

/*
 * Hash the calling thread's stack from `from` on. A state depends on it. Some
 * words in a frame are never written: padding, or a variable that is not used
 * yet. They are cleared before each run, so that no state depends on what an
 * earlier run, and the explorer in it, left there. If this state lies deeper
 * than what was cleared, the search begins again, and each run clears more.
 */
__attribute__((no_sanitize("address"))) uint64_t
sim_wait_stack(struct engine *e, uintptr_t from, uint64_t hash)
{
    const uintptr_t end =
        (uintptr_t)sim_self(e)->fiber.stack + SIM_FIBER_STACK_BYTES;

    while (end - from > e->cleared_bytes) {
        e->cleared_bytes =
            e->cleared_bytes > 0 ? 2 * e->cleared_bytes : CLEARED_BYTES_MIN;
        e->learned = true;
    }
    for (uintptr_t at = from; at < end; at += 8)
        hash = sim_hash_step(hash, *(const uint64_t *)at);
    return hash;
}

void
sim_wait_learn(struct engine *e, uintptr_t site)
{
    if (is_loop_site(e, site) ||
        e->loop_sites_count == sizeof e->loop_sites / sizeof e->loop_sites[0])
        return;
    if (e->cleared_bytes == 0)
        e->cleared_bytes = CLEARED_BYTES_MIN;
    e->loop_sites[e->loop_sites_count++] = site;
    e->learned = true;
}

/* returns: how many sites of wait loops are known */
uint32_t
sim_wait_sites(struct engine *e, const uintptr_t **sites)
{
    *sites = e->loop_sites;
    return e->loop_sites_count;
}

/*
 * Hash the registers and the stack of the calling code: with memory, they
 * determine all that it can do next. Call it before the first scheduling point
 * since that code called in.
 *
 * returns: the hash, not 0; 0 on processors other than x86-64
 */
uint64_t
sim_wait_state(struct engine *e)
{
#ifdef __x86_64__
    uint64_t state = 0;

    for (uint32_t i = 0; i < 6; i++)
        state = sim_hash_step(state, sim_caller.registers[i]);
    return sim_wait_stack(e, (uintptr_t)sim_caller.stack, state) | 1;
#else
    return 0;
#endif
}

/* Before a load or what may turn out to be no more than one. */
void
sim_wait_enter(struct engine *e, uintptr_t site)
{
    sim_self(e)->run.entry_state =
        is_loop_site(e, site) ? sim_wait_state(e) : 0;
}

/* ---- What a round has read ---- */

static uint32_t
done_by(struct engine *e, const struct thread *t)
{
    return t->run.now.at[e->current] + t->run.plain_count;
}

/* in: index, of the store that was read */
void
sim_wait_note(struct engine *e, struct location *location, uint32_t index,
              uintptr_t site)
{
    const struct store *store = sim_wait_origin(location, index);
    struct round *r = &sim_self(e)->run.round;

    if (r->count == ROUND_READS_MAX)
        r->count = sim_self(e)->run.states_count = 0; /* too long for a wait */
    r->reads[r->count++] = (struct round_read){
        .site = site,
        .location = location,
        .thread = store->thread,
        .stamp = store->stamp,
        .state = sim_self(e)->run.entry_state,
        .value = store->value,
        .question = sim_self(e)->run.question,
        .done = done_by(e, sim_self(e)),
    };
}

/* The thread has written, so its earlier rounds no longer count. */
void
sim_wait_wrote(struct engine *e)
{
    sim_self(e)->run.round.count = 0;
    sim_round_progress(e);
    sim_self(e)->run.round.real = 0;
}

/* Forbid the next round to read values that this round found to be old. */
static void
forget_old_values(struct engine *e)
{
    struct round *r = &sim_self(e)->run.round;

    for (uint32_t i = 0; i < r->count; i++) {
        struct location *l = r->reads[i].location;

        if (sim_wait_is_new(&r->reads[i]))
            l->least.at[e->current] = l->stores_count - 1;
    }
    r->count = 0;
}

/* ---- The probe ---- */

static bool
is_load(const struct round_read *read, uintptr_t site,
        const struct location *location)
{
    return read->site == site && read->location == location;
}

/*
 * Find where the round began: the recorded load that the probe's first load
 * repeats, in the same state.
 *
 * returns: its index, or ROUND_READS_MAX if none
 */
static uint32_t
find_round(const struct round *r, uintptr_t site,
           const struct location *location, uint64_t state)
{
    for (uint32_t i = r->count; i-- > 0;) {
        if (is_load(&r->reads[i], site, location) && r->reads[i].state == state)
            return i;
    }
    return ROUND_READS_MAX;
}

/* What is recorded since a probe left the loop is one round, in whatever state:
 * it begins at the first such load. */
static uint32_t
find_counted(const struct round *r, uintptr_t site,
             const struct location *location)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (is_load(&r->reads[i], site, location))
            return i;
    }
    return ROUND_READS_MAX;
}

/* returns: false if the probe's first load is no repetition */
static bool
begin_round(struct engine *e, struct round *r, uintptr_t site,
            const struct location *location)
{
    const uint64_t state = sim_self(e)->run.entry_state;
    uint32_t first = ROUND_READS_MAX;

    if (state != 0)
        first = find_round(r, site, location, state);
    r->counts = first == ROUND_READS_MAX;
    if (r->counts && r->real >= sim_wait_unroll(e))
        first = find_counted(r, site, location);
    if (first == ROUND_READS_MAX)
        return false;
    r->count -= first;
    memmove(r->reads, r->reads + first, r->count * sizeof *r->reads);
    r->bracketed = true;
    return true;
}

static bool
is_expected(const struct round *r, uintptr_t site,
            const struct location *location)
{
    return r->at < r->count && is_load(&r->reads[r->at], site, location);
}

/* The round came back to where it began. If it read only this value, learn that
 * reading the value there is futile. (Only reads of a search graph by graph, by
 * code whose state is known, have a name.) */
static void
learn_futile(struct engine *e, const struct round *r)
{
    if (r->count == 1 && !r->counts && r->reads[0].done == r->done &&
        sim_futile_learn(e, sim_self(e)->run.read_name, r->reads[0].value))
        sim_futile_mark(e);
}

/* The probe reads a newer value than the round. returns: false if the probe has
 * ended */
static bool
probe_newest(struct engine *e, struct round_read *read)
{
    const struct location *l = read->location;
    const struct store *newest = sim_wait_origin(l, l->stores_count - 1);

    if (e->state.last_round) {
        read->thread = newest->thread;
        read->stamp = newest->stamp;
        return true;
    }
    if (e->options.drop_waiters) {
        learn_futile(e, &sim_self(e)->run.round);
        sim_question_open(e, read->question + 1);
        sim_engine_stop(e, SIM_END_BLOCKED);
    }
    forget_old_values(e);
    sim_self(e)->run.probing = false;
    return false;
}

/*
 * Make a load of the running probe.
 *
 * out:     *value, if the load belongs to the probe
 * returns: false if it must be an event
 */
bool
sim_wait_probe(struct engine *e, struct location *location, uint64_t *value,
               uintptr_t site)
{
    struct round *r = &sim_self(e)->run.round;

    if (!r->bracketed && !begin_round(e, r, site, location)) {
        sim_wait_leave(e);
        return false;
    }
    if (e->state.last_round && !is_expected(r, site, location)) {
        r->count = r->at; /* a later loop begins: its round counts now */
        sim_wait_note(e, location, location->stores_count - 1, site);
        r->at = r->count - 1;
    } else if (!is_expected(r, site, location)) {
        sim_wait_leave(e);
        return false;
    }
    if (sim_wait_is_new(&r->reads[r->at]) && !probe_newest(e, &r->reads[r->at]))
        return false;
    r->at++;
    *value = location->stores[location->stores_count - 1].value;
    return true;
}

/* The probe would write. Has it found something new? */
void
sim_wait_before_write(struct engine *e, struct location *location,
                      uintptr_t site)
{
    struct round *r = &sim_self(e)->run.round;

    if (!r->bracketed && !begin_round(e, r, site, location))
        return;
    if (is_expected(r, site, location) && sim_wait_is_new(&r->reads[r->at]))
        probe_newest(e, &r->reads[r->at]);
}

/* ---- The end of a round ---- */

static void
begin_probe(struct thread *t, bool bracketed)
{
    struct round *r = &t->run.round;

    t->run.probing = true;
    r->bracketed = bracketed;
    r->at = 0;
    r->rounds = 0;
    r->looks = 0;
    r->state = 0;
}

/* Wait for another thread's store, or for ever. */
static void
wait_for_change(struct engine *e, uintptr_t site)
{
    struct thread *t = sim_self(e);

    t->run.probing = false;
    if (e->options.drop_waiters) {
        if (!e->state.last_round)
            learn_futile(e, &t->run.round);
        t->run.dropped = true;
        sim_engine_block(e, site);
        /* Only the last round of all comes back here. */
        begin_probe(t, true);
        return;
    }
    t->run.spinning = true;
    e->state.spinners++;
    sim_engine_block(e, site);
    if (e->state.last_round)
        begin_probe(t, true);
    else
        forget_old_values(e);
}

static void
learn_round(struct engine *e, const struct round *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        sim_wait_learn(e, r->reads[i].site);
}

/* A round of a wait loop has ended without success. */
void
sim_wait_round(struct engine *e, uintptr_t site)
{
    struct thread *t = sim_self(e);
    struct round *r = &t->run.round;
    uint64_t state;

    sim_engine_settle(e);
    if (!t->run.probing) {
        if (++e->run->steps > e->steps_max)
            sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                              "a loop pauses, but reads nothing that another "
                              "thread could change");
        learn_round(e, r);
        r->done = done_by(e, t);
        if (r->count > 0)
            begin_probe(t, false);
        return;
    }
    if (!r->bracketed || (!e->state.last_round && r->at != r->count)) {
        sim_wait_leave(e); /* the probe read less than the round */
        return;
    }
    r->count = r->at;
    r->at = 0;
    state = sim_wait_state(e);
    if ((r->counts || e->state.last_round) && state != r->state &&
        ++r->rounds < ROUNDS_MAX) {
        r->state = state;
        return;
    }
    e->run->bounded |= r->rounds == ROUNDS_MAX;
    wait_for_change(e, site);
}

/*
 * A round that no call marked (round.c) has ended in the state in which it
 * began: treat it as a probe that came round. `first` is the first of its
 * reads.
 */
void
sim_wait_fruitless(struct engine *e, uint32_t first, uintptr_t site)
{
    struct round *r = &sim_self(e)->run.round;

    if (sim_self(e)->run.probing) {
        r->count = r->at;
        r->at = 0;
    } else {
        r->count -= first;
        memmove(r->reads, r->reads + first, r->count * sizeof *r->reads);
    }
    wait_for_change(e, site);
}
