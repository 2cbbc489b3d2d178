/*
 * calls.c -- the explorer's functions for kernels (explore.h).
 */
#include "explore/engine/engine.h"

#include <stdlib.h>

enum { EVENT_CHOICE = 18, EVENT_MARK = 19 };

void
sim_calls_fail(struct engine *e, const char *what, uintptr_t site)
{
    if (e->active)
        sim_engine_refuse(e, SIM_FAIL_CHECK, site, 0, what);
    /* In setup, finish or invariant: their caller checks for a failure. */
    if (e->run != NULL && e->run->failure.kind == SIM_FAIL_NONE)
        sim_engine_failure_set(e, SIM_FAIL_CHECK, 0, 0, what);
}

void
sim_explore_fail(const char *what)
{
    struct engine *e = &sim_engine;

    sim_calls_fail(e, what, (uintptr_t)__builtin_return_address(0));
}

void
sim_explore_check(bool holds, const char *what)
{
    struct engine *e = &sim_engine;

    if (!holds)
        sim_calls_fail(e, what, (uintptr_t)__builtin_return_address(0));
}

/* ---- Calls in a run that would end the process ---- */

_Noreturn void sim_explore_abort(void);
_Noreturn void sim_explore_exit(int status);
_Noreturn void sim_explore_assert_fail(const char *text, const char *file,
                                       unsigned line, const char *function);

/* The build calls these in the place of abort(), exit() and assert(). */
void
sim_explore_abort(void)
{
    struct engine *e = &sim_engine;

    sim_calls_fail(e, "abort() is called",
                   (uintptr_t)__builtin_return_address(0));
    abort(); /* setup or final check: ends like a crash there */
}

void
sim_explore_exit(int status)
{
    struct engine *e = &sim_engine;

    (void)status;
    sim_calls_fail(e, "exit() is called",
                   (uintptr_t)__builtin_return_address(0));
    abort();
}

void
sim_explore_assert_fail(const char *text, const char *file, unsigned line,
                        const char *function)
{
    struct engine *e = &sim_engine;

    (void)file; /* the site has file and line */
    (void)line;
    (void)function;
    sim_calls_fail(e, text, (uintptr_t)__builtin_return_address(0));
    abort();
}

uint32_t
sim_explore_thread(void)
{
    struct engine *e = &sim_engine;

    return e->active ? e->current : 0;
}

uint32_t
sim_explore_choose(uint32_t bound, enum sim_kind kind)
{
    struct engine *e = &sim_engine;
    uint32_t value;

    if (!e->active)
        return 0;
    if (sim_self(e)->run.probing)
        sim_wait_leave(e);
    value = sim_engine_ask(e, bound, kind, (uint16_t)e->current);
    sim_engine_event(e, EVENT_CHOICE, value);
    return value;
}

uint64_t
sim_explore_mark(void)
{
    struct engine *e = &sim_engine;
    uint64_t number;

    if (!e->active)
        return 0;
    sim_engine_point(e, (uintptr_t)__builtin_return_address(0));
    sim_order_ask(e, &e->state.marks_order, false, NULL, NULL);
    sim_engine_event(e, EVENT_MARK, e->state.marks);
    sim_seq_cst_mark(e, e->state.marks, (uintptr_t)__builtin_return_address(0));
    number = e->state.marks++;
    sim_order_done(e, &e->state.marks_order, true);
    return number;
}

void
sim_explore_fork(void (*child)(void))
{
    struct engine *e = &sim_engine;

    if (!e->active)
        abort();
    sim_reduce_refuse(e);
    sim_explore_barrier(); /* an event, so part of the state */
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (i != e->current)
            sim_thread_vanish(e, i);
    }
    child();
    sim_engine_thread_end(e);
}
