/* engine.c -- the state of one run, its graph hash, its choices. */
#include "explore/engine/engine.h"
#include "explore/search/frontier.h"

#include <stdlib.h>
#include <string.h>

struct engine sim_engine;

/* ---- The graph hash ---- */

__extension__ typedef unsigned __int128 wide;

static uint64_t
fold(uint64_t a, uint64_t b)
{
    const wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void
sim_engine_hash(struct engine *e, uint64_t what, uint64_t detail, bool add)
{
    const uint64_t low =
        fold(what ^ 0xa0761d6478bd642fU, detail ^ 0xe7037ed1a0b428dbU);
    const uint64_t high =
        fold(low ^ 0x8ebc6af09c88c6e3U, what ^ 0x589965cc75374cc3U);

    if (add) {
        e->graph[0] += fold(low ^ 0x1d8e4e27c47d124fU, high);
        e->graph[1] += high;
    } else {
        e->graph[0] -= fold(low ^ 0x1d8e4e27c47d124fU, high);
        e->graph[1] -= high;
    }
}

void
sim_engine_event(struct engine *e, uint64_t kind, uint64_t detail)
{
    struct thread *t = sim_self(e);
    const uint32_t stamp = ++t->run.now.at[e->current];

    sim_engine_hash(e, stamp | (uint64_t)e->current << 32 | kind << 40, detail,
                    true);
    if (t->run.has_turn)
        e->graphs->record_turn(e);
}

void
sim_engine_check_invariant(struct engine *e)
{
    e->active = false;
    e->kernel->invariant(e->kernel->context);
    e->active = true;
    if (e->run->failure.kind != SIM_FAIL_NONE)
        sim_engine_stop(e, SIM_END_FAILED);
}

/* ---- Choices ---- */

uint32_t
sim_engine_ask(struct engine *e, uint32_t bound, enum sim_kind kind,
               uint16_t label)
{
    if (e->state.detour)
        return sim_rng_below(&e->detour_rng, bound);
    if (e->reduced)
        sim_question_plain(e, e->choices);
    return sim_choose_carried(e->choices, bound, kind, label);
}

/* Choose whether an operation fails, or a sleeper wakes, for no reason
 * (--spurious). */
bool
sim_engine_spurious(struct engine *e)
{
    if (e->spurious_left == 0 ||
        sim_engine_ask(e, 2, SIM_FAULT, (uint16_t)e->current) == 0)
        return false;
    e->spurious_left--;
    return true;
}
