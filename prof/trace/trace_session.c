/*
 * trace_session.c -- starting and stopping a trace.
 *
 *      OFF --start--> ON --stop--> DRAINING --read to the end--> OFF
 *                                     |
 *                                  stop_wait sleeps until `ends` grows
 *
 * A session begins with the state of the world: every task, then the caller on
 * its processor. `sequence_first` is the next sequence number after these
 * events. A stamp below it was taken before the session and is not used: the
 * file may already say that the stamp's task is in its system call.
 */
#include <string.h>

#include "prof/core/assertion.h"
#include "prof/trace/trace_stamp.h"
#include "prof/trace/tracer.h"

#include "prof/core/poison.h"

static uint64_t
time_now_ns(const struct prof_trace *trace)
{
    return trace->clock.now_ns != NULL
               ? trace->clock.now_ns(trace->clock.context)
               : prof_port_now_ns();
}

/*
 * Number stacks from 1 again. Old entries need not be cleared, because the
 * thread that takes a row overwrites its entry.
 */
static void
forget_stacks(struct prof_trace *trace)
{
    struct table *stacks = &trace->stacks;

    memset(stacks->slots, 0, trace->stacks_layout.slots_bytes);
    store_relaxed(&stacks->reserved, 0); /* nobody interns: I6 of trace.c */
}

/* An event without a stack. */
static void
emit_plain(struct prof_trace *trace, uint32_t proc, enum prof_trace_event kind,
           const uint64_t *args)
{
    prof_trace_emit_started(trace, proc, kind, args, NULL, 0);
}

static void
emit_task(struct prof_trace *trace, uint32_t proc,
          const struct prof_trace_task *task)
{
    const uint64_t create[] = {task->id, task->start_pc};

    prof_trace_emit_started(trace, proc, PROF_EV_GO_CREATE, create, task->stack,
                            task->depth);
    switch (task->state) {
    case PROF_TASK_RUNNABLE:
        return;
    case PROF_TASK_WAITING:
        emit_plain(trace, proc, PROF_EV_GO_WAITING, &task->id);
        return;
    case PROF_TASK_IN_SYSCALL:
        emit_plain(trace, proc, PROF_EV_GO_IN_SYSCALL, &task->id);
        return;
    }
    PROF_UNREACHABLE();
}

static void
emit_world(struct prof_trace *trace, const struct prof_trace_world *world)
{
    struct prof_trace_task task = {0};

    while (world->next(world->context, &task))
        emit_task(trace, world->proc, &task);
    emit_plain(trace, world->proc, PROF_EV_PROC_START, &world->thread);
    emit_plain(trace, world->proc, PROF_EV_GO_START, &world->task);
    if (world->is_collecting)
        emit_plain(trace, world->proc, PROF_EV_GC_START, NULL);
}

/* returns: true if a session may begin */
static bool
claim(struct prof_trace *trace)
{
    bool is_off;

    prof_port_lock_take(&trace->lock);
    is_off = trace->stage == STAGE_OFF;
    if (is_off) {
        trace->stage = STAGE_ON;
        trace->part = PART_HEADER;
        trace->stack_next = 1;
        trace->is_cut = false;
    }
    prof_port_lock_release(&trace->lock);
    return is_off;
}

static bool
is_ordered_by_clock(const struct prof_trace *trace)
{
    return trace->order == PROF_TRACE_ORDER_CLOCK;
}

/* Let all processors without a buffer continue from the same moment. */
static void
meet(struct prof_trace *trace, bool begins)
{
    if (is_ordered_by_clock(trace))
        prof_trace_clock_meet(trace, begins);
}

/* The clock where a session begins or ends. */
static uint64_t
boundary_ticks(struct prof_trace *trace)
{
    return is_ordered_by_clock(trace)
               ? trace_ticks_now(trace)
               : prof_trace_take_stamp(trace).clock_ticks;
}

static uint32_t
way_of(const struct prof_trace *trace)
{
    return is_ordered_by_clock(trace) && trace->clock.ticks == NULL &&
                   trace->tick_shift < 64
               ? WAY_CYCLES
               : WAY_ANY;
}

enum prof_status
prof_trace_start(struct prof_trace *trace, const struct prof_trace_world *world)
{
    PROF_ASSERT(world->proc < trace->procs_count);
    prof_port_lock_take(&trace->events_lock);
    if (!claim(trace)) {
        prof_port_lock_release(&trace->events_lock);
        return PROF_ERR_BUSY;
    }
    forget_stacks(trace);
    store_relaxed(&trace->no_buffer, 0); /* counts, nobody adds (I6) */
    store_relaxed(&trace->no_stack, 0);
    trace->closed = 0;
    meet(trace, true);
    trace->ticks_start = boundary_ticks(trace);
    trace->ns_start = time_now_ns(trace);
    emit_world(trace, world);
    meet(trace, false);
    trace->sequence_first = is_ordered_by_clock(trace)
                                ? prof_trace_take_stamp(trace).sequence
                                : load_relaxed(&trace->stamp) / 2; /* ours */
    /* Release [pair: on]: set up the session before it is on. */
    store_release(&trace->on, way_of(trace));
    prof_port_lock_release(&trace->events_lock);
    return PROF_OK; /* no reader sleeps while there is no session */
}

enum prof_status
prof_trace_stop(struct prof_trace *trace, uint32_t proc, const uintptr_t *stack,
                uint32_t depth)
{
    PROF_ASSERT(proc < trace->procs_count);
    prof_port_lock_take(&trace->events_lock);
    if (load_relaxed(&trace->on) == 0) { /* the stopped world orders it */
        prof_port_lock_release(&trace->events_lock);
        return PROF_ERR_OFF;
    }
    prof_trace_emit_started(trace, proc, PROF_EV_GO_SCHED, NULL, stack, depth);
    /* Release [pair: on]: nothing after it is of this session. */
    store_release(&trace->on, 0);
    for (uint32_t i = 0; i < trace->procs_count; i++)
        prof_trace_give_up(trace, &trace->procs[i].buffer);
    prof_trace_give_up(trace, &trace->outside.buffer);
    trace->ticks_end = boundary_ticks(trace);
    trace->ns_end = time_now_ns(trace);
    prof_port_lock_release(&trace->events_lock);

    prof_port_lock_take(&trace->lock);
    trace->stage = STAGE_DRAINING;
    trace->timer_task_named = trace->timer_task;
    prof_port_lock_release(&trace->lock);
    prof_trace_notify_reader(trace);
    return PROF_OK;
}

void
prof_trace_discard(struct prof_trace *trace)
{
    struct trace_buffer *buffer;

    prof_port_lock_take(&trace->lock);
    PROF_ASSERT(trace->stage == STAGE_OFF ||
                (trace->stage == STAGE_DRAINING && trace->part == PART_HEADER));
    while ((buffer = trace_queue_pop(&trace->full)) != NULL) {
        buffer->next = trace->empty;
        trace->empty = buffer;
    }
    trace->stage = STAGE_OFF;
    prof_port_lock_release(&trace->lock);
}

/*
 * If the reader reaches the end between the check and the sleep, `ends` has
 * changed, and the sleep ends at once. A new session may start meanwhile; the
 * wait is over all the same, because `ends` has changed.
 */
enum prof_status
prof_trace_stop_wait(struct prof_trace *trace)
{
    enum trace_stage stage;
    uint32_t seen;

    prof_port_lock_take(&trace->lock);
    stage = trace->stage;
    seen = load_relaxed(&trace->ends); /* grows under the lock */
    prof_port_lock_release(&trace->lock);
    if (stage == STAGE_ON)
        return PROF_ERR_BUSY;
    /* Acquire [pair: end]: what was done before the last read. */
    while (stage == STAGE_DRAINING && load_acquire(&trace->ends) == seen)
        prof_port_wait(trace_word(&trace->ends), seen);
    return PROF_OK;
}
