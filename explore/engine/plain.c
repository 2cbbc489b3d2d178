/*
 * plain.c -- plain (non-atomic) accesses: no events, but checked for races.
 *
 * Two accesses to one byte race if one of them writes, they are not both
 * atomic, and neither happens before the other. In a program without races,
 * each plain access behaves as part of the event before it, so it needs no
 * scheduling point. A race is undefined behaviour, so the first one ends the
 * run.
 *
 * Example: thread 0 writes an int after its event 3, so with stamp 4; thread 1
 * then reads it while its clock says 3 for thread 0. 3 < 4: it has not seen the
 * write, a race. If it had acquired thread 0's event 4, its clock would say 4.
 * The clocks are those of Flanagan and Freund, "FastTrack" (PLDI 2009).
 *
 *      word:   |b0 b1 b2 b3|b4 b5|b6|b7|      8 aligned bytes
 *      cells:    mask 0f     30   40 80       split when used apart
 */
#include "explore/engine/engine.h"

#include <string.h>

static struct cell *
cell_new(struct engine *e, struct word *word, uint8_t mask, uintptr_t site)
{
    struct cell *c;

    if (e->state.cells_count == CELLS_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the threads touch too much plain memory");
    c = &e->cells[e->state.cells_count++];
    c->mask = mask;
    c->written = c->made = false;
    c->next = word->cells;
    c->read = (struct clock){{0}}; /* without one, no read_site is read */
    word->cells = e->state.cells_count;
    return c;
}

/* The word belongs to a block that somebody has made in this run: a write. */
static void
note_making(struct engine *e, struct word *word, uintptr_t site)
{
    struct sim_making making;
    struct cell *c;

    if (!e->heap_find_making(word->address, &making))
        return;
    c = cell_new(e, word, 0xff, site);
    c->written = c->made = true;
    c->write_thread = making.thread;
    c->write_stamp = making.stamp;
    c->write_site = making.site;
}

struct word *
sim_memory_word_apart(struct engine *e, uintptr_t address, uintptr_t site)
{
    const struct word *end = e->words + WORDS;
    struct word *word = sim_memory_slot(e, address);

    while (word->run == e->run_number) {
        if (word->address == address)
            return word;
        if (++word == end)
            word = e->words;
    }
    if (++e->state.words_used > WORDS_USED_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the threads touch too many different words");
    *word = (struct word){.address = address, .run = e->run_number};
    if (sim_heap_has(e, address))
        note_making(e, word, site);
    return word;
}

enum { PLAIN_MAX = 1 << 22 }; /* a loop on plain memory never ends by itself */

static bool
knows(struct engine *e, const struct thread *t, uint32_t thread, uint32_t stamp)
{
    return t->run.now.at[thread] >= stamp || t == &e->threads[thread];
}

/* What each race is called, and its accesses: the later one, the earlier
 * one. */
static const struct race_kind {
    const char *text;
    const char *access;
    const char *other_access;
} two_writes = {"two plain writes race", "plain write", "plain write"},
  read_write = {"a plain read races with a plain write", "plain read",
                "plain write"},
  write_read = {"a plain write races with a plain read", "plain write",
                "plain read"},
  atomic_plain = {"atomic access races with a plain write", "atomic access",
                  "plain write"},
  atomic_read = {"atomic write races with a plain read", "atomic write",
                 "plain read"},
  plain_atomic = {"plain access races with an atomic write", "plain access",
                  "atomic write"},
  plain_look = {"plain write races with an atomic read", "plain write",
                "atomic read"},
  use_making = {"a block is used by a thread that may not know of its making",
                "use", "making"};

/* An access, and the thread and the site of an earlier one that races with
 * it. */
_Noreturn static void
race(struct engine *e, const struct race_kind *kind, uintptr_t address,
     uintptr_t site, uint32_t other, uintptr_t other_site)
{
    e->race = (struct sim_race){.address = address,
                                .other = other,
                                .access = kind->access,
                                .other_access = kind->other_access};
    if (e->state.freeing)
        sim_engine_refuse(e, SIM_FAIL_HEAP, site, other_site,
                          "a block is freed while another thread may still "
                          "use it");
    sim_engine_refuse(e, SIM_FAIL_RACE, site, other_site, kind->text);
}

static void
check_writer(struct engine *e, const struct cell *c,
             const struct race_kind *kind, uintptr_t address, uintptr_t site)
{
    if (c->written && !knows(e, sim_self(e), c->write_thread, c->write_stamp))
        race(e, c->made ? &use_making : kind, address, site, c->write_thread,
             c->write_site);
}

static void
check_readers(struct engine *e, const struct cell *c,
              const struct race_kind *kind, uintptr_t address, uintptr_t site)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (c->read.at[i] != 0 && !knows(e, sim_self(e), i, c->read.at[i]))
            race(e, kind, address, site, i, c->read_site[i]);
    }
}

void
sim_location_check(struct engine *e, const struct location *l, bool write,
                   uintptr_t site)
{
    for (uint32_t i = l->word->cells; i != 0;) {
        const struct cell *c = &e->cells[i - 1];

        if ((c->mask & l->mask) != 0) {
            check_writer(e, c, &atomic_plain, l->address, site);
            if (write)
                check_readers(e, c, &atomic_read, l->address, site);
        }
        i = c->next;
    }
}

/* A plain write after all other accesses starts a new history. */
static void
location_overwrite(struct engine *e, struct location *l)
{
    const uint32_t me = e->current;

    l->stores[0] = (struct store){.thread = me,
                                  .stamp = sim_self(e)->run.now.at[me] + 1,
                                  .trace = TRACE_MAX};
    l->stores_count = 1;
    l->reloaded = true;
    memset(&l->least, 0, sizeof l->least);
}

static void
check_locations(struct engine *e, struct word *word, uint8_t mask, bool write,
                uintptr_t site)
{
    const struct thread *t = sim_self(e);

    for (uint32_t i = word->locations; i != 0;) {
        struct location *l = &e->locations[i - 1];

        if ((l->mask & mask) != 0) {
            for (uint32_t j = 0; j < e->threads_count; j++) {
                if (l->written.at[j] != 0 && !knows(e, t, j, l->written.at[j]))
                    race(e, &plain_atomic, l->address, site, j,
                         l->write_site[j]);
                if (write && l->read.at[j] != 0 &&
                    !knows(e, t, j, l->read.at[j]))
                    race(e, &plain_look, l->address, site, j, l->read_site[j]);
            }
            if (write)
                location_overwrite(e, l);
        }
        i = l->next;
    }
}

static void
cell_access(struct engine *e, struct cell *c, uintptr_t word, bool write,
            uintptr_t site)
{
    const uintptr_t address = word + (uint32_t)__builtin_ctz(c->mask);
    const uint32_t me = e->current;
    const uint32_t stamp = sim_self(e)->run.now.at[me] + 1;

    if (write) {
        check_writer(e, c, &two_writes, address, site);
        check_readers(e, c, &write_read, address, site);
        c->written = true;
        c->made = false;
        c->write_thread = me;
        c->write_stamp = stamp;
        c->write_site = site;
    } else {
        check_writer(e, c, &read_write, address, site);
        c->read.at[me] = stamp;
        c->read_site[me] = site;
    }
}

static void
word_access(struct engine *e, uintptr_t address, uint8_t mask, bool write,
            uintptr_t site)
{
    struct word *word = sim_memory_word(e, address, site);

    check_locations(e, word, mask, write, site);
    for (uint32_t i = word->cells; i != 0 && mask != 0;) {
        struct cell *c = &e->cells[i - 1];

        i = c->next;
        if ((c->mask & mask) == 0)
            continue;
        if ((c->mask & ~mask) != 0) {
            struct cell *rest =
                cell_new(e, word, (uint8_t)(c->mask & ~mask), site);
            const uint32_t next = rest->next;
            const uint8_t rest_mask = rest->mask;

            *rest = *c;
            rest->next = next;
            rest->mask = rest_mask;
            c->mask &= mask;
        }
        cell_access(e, c, address, write, site);
        mask &= (uint8_t)~c->mask;
    }
    if (mask != 0)
        cell_access(e, cell_new(e, word, mask, site), address, write, site);
}

/* Is the address on the thread's own stack (no event)? Refuses an address on
 * another thread's stack. */
static bool
on_own_stack(struct engine *e, uintptr_t address, uintptr_t site)
{
    if (sim_fiber_owns(&sim_self(e)->fiber, address))
        return true;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (sim_fiber_owns(&e->threads[i].fiber, address))
            sim_engine_refuse(e, SIM_FAIL_STACK, site, 0,
                              "an access to another thread's stack");
    }
    return false;
}

void
sim_plain_access(struct engine *e, uintptr_t address, size_t bytes, bool write,
                 uintptr_t site)
{
    const uintptr_t end = address + bytes;

    if (!e->program && on_own_stack(e, address, site))
        return;
    sim_heap_check(e, address, bytes, site);
    sim_stack_check(e, address, bytes, site);
    if (sim_self(e)->run.probing &&
        sim_fiber_owns(&sim_self(e)->fiber, address))
        return;
    if (write && !sim_fiber_owns(&sim_self(e)->fiber, address))
        sim_round_progress(e);
    if (++e->state.plain_count > PLAIN_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the run has too many plain accesses");
    if ((e->state.plain_count & 0xffff) == 0)
        sim_engine_look_at_clock(e);
    if (sim_self(e)->run.probing) {
        if (!write)
            return;
        sim_wait_leave(e);
    }
    sim_repeat_note(e, site, address ^ (uint64_t)bytes << 56);
    sim_engine_signal_point(e);
    sim_self(e)->run.plain_count++;
    while (address < end) {
        const uint32_t offset = (uint32_t)(address & 7);
        const uint32_t room = 8 - offset;
        const uint32_t part =
            end - address < room ? (uint32_t)(end - address) : room;

        word_access(e, address - offset,
                    (uint8_t)(((1U << part) - 1) << offset), write, site);
        address += part;
    }
}

/* ---- The end of a function ---- */

/*
 * The variables of a function are gone when it returns. An access by another
 * thread must happen before that. If it was made before, the end finds it in
 * the words of the frame; if it is made after, the access finds the end: the
 * latest one of a function that had variables there. (A later function may have
 * some there, too. A thread that has a pointer to those knows that end.)
 */
_Noreturn static void
gone(struct engine *e, uintptr_t site, uintptr_t other_site)
{
    sim_engine_refuse(e, SIM_FAIL_GONE, site, other_site,
                      "a variable is used by another thread, and its function "
                      "may have returned by then");
}

void
sim_plain_stack(struct engine *e, uintptr_t address, size_t bytes,
                uintptr_t site)
{
    uint32_t owner = 0;
    struct thread *t;

    while (owner < e->threads_count &&
           !sim_fiber_owns(&e->threads[owner].fiber, address))
        owner++;
    if (owner == e->threads_count)
        return;
    t = &e->threads[owner];
    for (uint32_t i = t->run.ended_count; i-- > 0;) {
        if (t->ended[i].below <= address)
            continue;
        if (t->run.finished || !knows(e, sim_self(e), owner, t->ended[i].stamp))
            gone(e, site, t->ended[i].site);
        break;
    }
    if (t->run.exposed_to == 0 || address < t->run.exposed_from)
        t->run.exposed_from = address;
    if (address + bytes > t->run.exposed_to)
        t->run.exposed_to = address + bytes;
}

static struct word *
find_word(struct engine *e, uintptr_t address)
{
    const struct word *end = e->words + WORDS;
    struct word *word = sim_memory_slot(e, address);

    while (word->run == e->run_number && word->address != address) {
        if (++word == end)
            word = e->words;
    }
    return word->run == e->run_number ? word : NULL;
}

/* An access of the word that this thread does not know of? */
static void
check_exposed(struct engine *e, const struct word *word, uintptr_t site)
{
    const struct thread *t = sim_self(e);

    for (uint32_t i = word->cells; i != 0; i = e->cells[i - 1].next) {
        const struct cell *c = &e->cells[i - 1];

        if (c->written && !knows(e, t, c->write_thread, c->write_stamp))
            gone(e, site, c->write_site);
        for (uint32_t j = 0; j < e->threads_count; j++) {
            if (c->read.at[j] != 0 && !knows(e, t, j, c->read.at[j]))
                gone(e, site, c->read_site[j]);
        }
    }
    for (uint32_t i = word->locations; i != 0; i = e->locations[i - 1].next) {
        const struct location *l = &e->locations[i - 1];

        for (uint32_t j = 0; j < e->threads_count; j++) {
            if (l->written.at[j] != 0 && !knows(e, t, j, l->written.at[j]))
                gone(e, site, l->write_site[j]);
            if (l->read.at[j] != 0 && !knows(e, t, j, l->read.at[j]))
                gone(e, site, l->read_site[j]);
        }
    }
}

void
sim_plain_return(struct engine *e, uintptr_t from, uintptr_t to, uintptr_t site)
{
    const struct thread *t = sim_self(e);

    from = from > t->run.exposed_from ? from : t->run.exposed_from;
    to = to < t->run.exposed_to ? to : t->run.exposed_to;
    for (uintptr_t at = from & ~(uintptr_t)7; at < to; at += 8) {
        const struct word *word = find_word(e, at);

        if (word != NULL)
            check_exposed(e, word, site);
    }
}
