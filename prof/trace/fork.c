/*
 * fork.c -- an instance and a tracer in the child of a fork.
 *
 * The child's memory shows the parent's threads at one moment: of each thread,
 * everything up to some instruction, and nothing after it. (Linux copies while
 * other threads run, but if the child has a store, it has all earlier ones,
 * too.) So the child must be able to continue if a call stopped before any one
 * of its memory accesses:
 *
 *   stopped in              state in the child         what is done
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
 * What may appear one collection early or late. The child repeats a rotation of
 * stages from its first row, so rows that were already rotated show the
 * allocations of one cycle a cycle early. If next_cycle stopped after it set
 * the new cycle but before it cleared `frees_in_alloc_slot`, the frees of one
 * sweep wait with the allocations of its cycle, as after PROF_ERR_BUSY
 * (heap.c), and appear with the next collection.
 *
 * Publishing a row takes two or three stores. If the fork came between them and
 * the row has more than 2^32 events, it shows 2^32 too many or too few until
 * its slot is published again.
 *
 * Why the caller's own processors are not treated separately: by contract its
 * thread is in no call, so their sections are even. Why samplers draw again: a
 * thread may have stopped between the decision to sample and the next draw. The
 * gap to the next sample has no memory, so a new draw is as good.
 */
#include "prof/fork.h"

#include "prof/core/instance.h"
#include "prof/core/poison.h"
#include "prof/trace/tracer.h"

/* All accesses are relaxed: there is only one thread. */

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
    /* If a number was taken, no event has it, and the next one follows. */
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
