/* control.h -- the locks of control calls. heap.c, I6, says which call takes
 * which lock. */
#ifndef PROF_CORE_CONTROL_H
#define PROF_CORE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/core/instance.h"

/* returns: whether the caller has the cycle lock now */
static inline bool
try_cycle_lock(struct prof *prof)
{
    uint32_t seen = CYCLE_MOVES;

    /* Acquire [pair: cycle]: see the cycle word as the last holder left it, and
     * what was counted before. */
    return cas_acquire(&prof->cycle_lock, &seen, CYCLE_STANDS);
}

static inline void
unlock_cycle(struct prof *prof)
{
    /* Release [pair: cycle]: as above. */
    store_release(&prof->cycle_lock, CYCLE_MOVES);
}

static inline void
lock_control(struct prof *prof)
{
    prof_port_lock_take(&prof->control);
    /* The other thread is between two stores of prof_heap_next_cycle(). */
    while (advances_at_once(prof) && !try_cycle_lock(prof))
        prof_port_spin_pause();
}

static inline void
unlock_control(struct prof *prof)
{
    if (advances_at_once(prof))
        unlock_cycle(prof);
    prof_port_lock_release(&prof->control);
}

#endif
