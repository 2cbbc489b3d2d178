/*
 * futile.c -- reads that only lead round a wait loop.
 *
 * A round of a loop is futile if it reads one value and ends in the state in
 * which it began. It will be futile again whenever the same code, in the same
 * state, reads the same value from the same location. So the search graph by
 * graph (reduce.c) lets no later run read that value there. If no other value
 * is left to read, the thread is blocked until another thread writes to the
 * location, as at a lock. If other values are left, the last store may still be
 * read, even if futile: a thread that reads it may wait for ever, and the
 * search must find that livelock.
 *
 * This knowledge only says which answers to leave out. The meaning of an answer
 * does not depend on it, so a list replays without it.
 */
#include "explore/search/futile.h"
#include "explore/engine/engine.h"
#include "explore/search/frontier.h"

#include <stdlib.h>

enum { KNOWN_MAX = 1 << 20 };

void
sim_futile_forget(struct engine *e)
{
    if (e->futile.keys == NULL)
        sim_visited_init(&e->futile, KNOWN_MAX);
    if (e->futile.count > 0)
        sim_visited_clear(&e->futile);
}

uint64_t
sim_futile_name(struct engine *e, const struct location *l)
{
    const struct thread *t = sim_self(e);

    if (t->run.entry_state == 0)
        return 0;
    return sim_mix64(t->run.entry_state ^
                     sim_mix64(l->address ^ t->run.last_site)) |
           1;
}

static void
key_of(uint64_t name, uint64_t value, uint64_t key[2])
{
    key[0] = name;
    key[1] = sim_mix64(value ^ name) | 1;
}

bool
sim_futile_knows(struct engine *e, uint64_t name, uint64_t value)
{
    uint64_t key[2];

    if (name == 0 || e->futile.count == 0)
        return false;
    key_of(name, value, key);
    return sim_visited_contains(&e->futile, key);
}

bool
sim_futile_learn(struct engine *e, uint64_t name, uint64_t value)
{
    uint64_t key[2];

    if (name == 0 || e->futile.keys == NULL) /* or no search has begun */
        return false;
    key_of(name, value, key);
    return !sim_visited_insert(&e->futile, key) && !e->futile.full;
}

/* ---- In a run ---- */

uint32_t
sim_futile_release(struct engine *e)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.awaits == NULL || e->threads[i].run.finished)
            continue;
        e->threads[i].run.released = true;
        return i;
    }
    return SIM_THREADS_MAX;
}

void
sim_futile_mark(struct engine *e)
{
    struct sim_choices *choices = e->choices;
    const uint32_t at = sim_self(e)->run.offered;
    struct sim_question *q;
    uint32_t answer;

    if (choices->backend != SIM_ODOMETER || at == UINT32_MAX ||
        at != sim_self(e)->run.question)
        return;
    q = sim_question_at(e, at);
    answer = choices->list[at].value;
    if (answer >= q->sources || answer >= 64 || (answer == 0 && q->sources > 1))
        return;
    q->futile |= UINT64_C(1) << answer;
    e->state.cut = true;
    sim_engine_stop(e, SIM_END_BLOCKED);
}
