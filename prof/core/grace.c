/*
 * grace.c -- the grace period, for PROF_WORLD_RUNNING: the cycle advances while
 * other threads record.
 *
 *      record call              control call
 *      calls := odd             cycle := C + 1
 *      (no fence)               barrier on all threads
 *      read cycle               read every processor's calls
 *      add to slot
 *      calls := even            a later call: have the odd ones changed?
 *
 * A record call reads the cycle, then adds to that cycle's slot. Between the
 * two the cycle may advance and the slot may be published. So nothing is
 * published for cycle C+1 until every call that may have read C has ended.
 *
 * Invariants
 *   I1  After prof_grace_begin() a call that is not noted in `seen` reads the
 *       new cycle. A call first stores to `calls`, then reads the cycle. If
 *       the barrier comes after that store, prof_grace_begin() sees the store
 *       and notes it. If it comes before, the call reads the new cycle.
 *   I2  During a grace period the cycle does not advance and no slot is
 *       published: control calls return PROF_ERR_BUSY. So a record call is
 *       never more than one cycle late.
 *
 * Why nothing records the end of a grace period: `calls` only grows, so a call
 * that has ended can never equal `seen` again. Why a barrier on all threads
 * (membarrier on Linux) instead of a fence in the record call: the cycle
 * advances once per collection, but record calls happen once per allocation.
 * Why PROF_ERR_BUSY instead of waiting: the record call in flight may be on the
 * very thread that was interrupted to make the control call.
 */
#include "prof/core/grace.h"

#include "prof/core/assertion.h"
#include "prof/core/instance.h"
#include "prof/core/poison.h"

void
prof_grace_begin(struct prof *prof)
{
    if (prof->world == PROF_WORLD_STOPPED)
        return;
    if (!prof_port_barrier())
        PROF_UNREACHABLE(); /* init has tried it */
    for (uint32_t i = 0; i < prof->procs_count; i++) {
        struct section *section = &prof->procs[i].section;

        /* Acquire [pair: section]: an even one says all of it is counted. */
        section->seen = load_acquire(&section->calls);
    }
}

bool
prof_grace_is_over(const struct prof *prof)
{
    if (prof->world == PROF_WORLD_STOPPED)
        return true;
    for (uint32_t i = 0; i < prof->procs_count; i++) {
        const struct section *section = &prof->procs[i].section;

        /* Acquire [pair: section]: see what the call has counted. */
        if ((section->seen & 1) != 0 &&
            load_acquire(&section->calls) == section->seen)
            return false;
    }
    return true;
}
