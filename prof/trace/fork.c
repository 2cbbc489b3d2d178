/*
 * fork.c -- an instance and a tracer in the child of a fork.
 *
 * The child's memory is one moment of the parent's: for every thread,
 * everything it did up to some instruction, and nothing after it. (Linux copies
 * while the others run, but no store that the child lacks comes before one that
 * it has.) So each call, stopped before any of its accesses, must leave a state
 * from which the child can continue:
 *
 *   stopped in              what is there              what is done
 *   intern, before CAS      a row that no slot leads   nothing: it is not
 *                           to (table.c, I3)           listed, its room is lost
 *   intern, after CAS       the bucket, TENTATIVE or   nothing
 *                           not
 *   alloc, free             an odd section             section ended
 *     before the addition   nothing counted            the event is lost
 *     after it, no carry    a counter of 0, 2^32 too   prof_counters_mend()
 *                           small
 *   block, mutex event      no ticks for the count     nothing
 *   flush, post_sweep,      some rows published, the   nothing: publishing is
 *   later snapshot          cycle not marked           writing down sums, and
 *                                                      the next writes them all
 *   first snapshot          some rows published        prof_heap_mend(): all
 *   rotation of stages      some rows moved up         nothing, see below
 *   next_cycle              the old or the new cycle,  sections ended; frees
 *                           frees late or not          may be late, see below
 *   any control call        the locks taken            locks reset
 *   emit, read, start       locks, an odd stamp,       all of it reset: the
 *                           buffers anywhere, half a   session goes on in the
 *                           stack given out            parent alone
 *
 * What is then one collection off. A rotation of stages is repeated from its
 * first row, so rows that it had reached show the allocations of one cycle a
 * cycle early. A next_cycle stopped between the new cycle and the end of
 * `frees_in_alloc_slot` leaves the frees of one sweep waiting with the
 * allocations of its cycle, as after a refusal (heap.c): they show with the
 * next collection.
 *
 * Publishing a row stores 64 bits in two or three stores. Stopped between them
 * the row shows 2^32 events too many or too few, if it has had that many, until
 * its slot is published again.
 *
 * Why the caller's own processor is not treated separately: by contract its
 * thread is in no call, so its section is even; and it may have several
 * processors, or none. Why samplers draw again: a thread may have stopped
 * between a decision to sample and the next draw. The gap to the next sample
 * has no memory, so a new one is as good.
 */
#include "prof/fork.h"

#include "instance.h"
#include "poison.h"
#include "tracer.h"

/* All accesses are relaxed: nobody else is there. */

static void
free_proc(struct prof_proc *proc)
{
    struct section *section = &proc->section;
    const uint64_t calls = load_relaxed(&section->calls);

    proc->sampler.rate_bytes = 0; /* none drawn */
    proc->sampler.sampled = 0;
    if ((calls & 1) == 0)
        return;
    store_relaxed(&section->calls, calls + 1);
    prof_counters_mend(proc);
}

void
prof_after_fork_child(struct prof *prof)
{
    prof_port_lock_reset(&prof->control);
    if (advances_at_once(prof))
        store_relaxed(&prof->cycle_lock, CYCLE_MOVES);
    for (uint32_t i = prof->procs_count; i-- > 0;)
        free_proc(&prof->procs[i]);
    prof_heap_mend(prof);
}

static void
reset_locks(struct prof_trace *trace)
{
    const uint64_t word = load_relaxed(&trace->stamp);

    prof_port_lock_reset(&trace->events_lock);
    prof_port_lock_reset(&trace->lock);
    prof_port_lock_reset(&trace->reader_lock);
    /* Taken: its number is nobody's, the next one follows. */
    store_relaxed(&trace->stamp, word + (word & 1));
}

void
prof_trace_after_fork_child(struct prof_trace *trace)
{
    reset_locks(trace);
    store_relaxed(&trace->on, WAY_NONE);
    trace->stage = STAGE_OFF;
    trace->stack_done = 0; /* start takes it to be */
    trace->full = (struct trace_queue){0};
    trace->reader_buffer = NULL;
    for (uint32_t i = trace->procs_count; i-- > 0;)
        trace->procs[i].buffer = NULL;
    trace->outside.buffer = NULL;
    prof_trace_empty_buffers(trace);
}
