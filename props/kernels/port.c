/*
 * port.c -- the library's port (prof/port.h) inside an explored run.
 *
 * To explore the library's instrumented source, link this object before
 * libprof.a. A lock is then the explorer's, a panic is a failed check, and the
 * barrier on all threads is a full fence wherever each thread is.
 *
 * The clock stands still. Otherwise the time would depend on the interleaving
 * and be part of the state, so no two interleavings would share a state. A
 * kernel that needs time passes its own clock.
 *
 * build: plain=yes
 */
#include "prof/port.h"

#include "explore/engine/engine.h"

#define HERE ((uintptr_t)__builtin_return_address(0))

void
prof_port_lock_take(struct prof_port_lock *lock)
{
    struct engine *e = &sim_engine;

    sim_lock_take(e, lock, 0, HERE);
}

bool
prof_port_lock_try(struct prof_port_lock *lock)
{
    struct engine *e = &sim_engine;

    return sim_lock_try(e, lock, 0, HERE);
}

void
prof_port_lock_release(struct prof_port_lock *lock)
{
    struct engine *e = &sim_engine;

    sim_lock_release(e, lock, HERE);
}

void
prof_port_lock_reset(struct prof_port_lock *lock)
{
    struct engine *e = &sim_engine;

    sim_lock_reset(e, lock, HERE);
}

uint64_t
prof_port_now_ns(void)
{
    return 1000;
}

void
prof_port_wait(const uint32_t *word, uint32_t seen)
{
    struct engine *e = &sim_engine;

    sim_lock_wait(e, word, seen, HERE);
}

void
prof_port_wake(const uint32_t *word)
{
    struct engine *e = &sim_engine;

    sim_lock_wake(e, word, UINT32_MAX, HERE);
}

bool
prof_port_barrier(void)
{
    sim_explore_barrier();
    return true;
}

void
prof_port_panic(const char *file, int line, const char *condition)
{
    struct engine *e = &sim_engine;

    (void)file; /* the site has file and line */
    (void)line;
    sim_calls_fail(e, condition, HERE);
    __builtin_trap(); /* setup or final check: ends like a crash there */
}
