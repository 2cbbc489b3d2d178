/*
 * calls.c -- what a kernel's own code may ask of the explorer.
 */
#include "engine.h"

#include <stdlib.h>

enum { EVENT_CHOICE = 18, EVENT_MARK = 19 };

void
sim_calls_fail(const char *what, uintptr_t site)
{
    struct engine *e = &sim_engine;

    if (e->active)
        sim_engine_refuse(SIM_FAIL_CHECK, site, 0, what);
    /* Setup, finish or invariant: the caller of those looks. */
    if (e->run != NULL && e->run->failure.kind == SIM_FAIL_NONE)
        sim_engine_failure_set(SIM_FAIL_CHECK, 0, 0, what);
}

void
sim_explore_fail(const char *what)
{
    sim_calls_fail(what, (uintptr_t)__builtin_return_address(0));
}

void
sim_explore_check(bool holds, const char *what)
{
    if (!holds)
        sim_calls_fail(what, (uintptr_t)__builtin_return_address(0));
}

uint32_t
sim_explore_thread(void)
{
    return sim_engine.active ? sim_engine.current : 0;
}

uint32_t
sim_explore_choose(uint32_t bound, enum sim_kind kind)
{
    uint32_t value;

    if (!sim_engine.active)
        return 0;
    value = sim_engine_ask(bound, kind, (uint16_t)sim_engine.current);
    sim_engine_event(EVENT_CHOICE, value);
    return value;
}

uint64_t
sim_explore_mark(void)
{
    struct engine *e = &sim_engine;

    if (!e->active)
        return 0;
    sim_engine_point((uintptr_t)__builtin_return_address(0));
    sim_engine_event(EVENT_MARK, e->marks);
    return e->marks++;
}

void
sim_explore_spin_wait(void)
{
    struct engine *e = &sim_engine;
    struct thread *t = sim_self();
    const uintptr_t site = (uintptr_t)__builtin_return_address(0);

    if (!e->active)
        return;
    if (e->options.drop_waiters) {
        t->dropped = true;
        sim_engine_block(site);
        abort();
    }
    t->spinning = true;
    e->spinners++;
    sim_engine_block(site);
    sim_fence_forget_round(e->current);
}
