/*
 * trace.c -- the record calls of the tracer.
 *
 *      emit --> stamp --> buffer of the processor --full--> queue --> reader
 *                 |            ^                              |
 *            one counter       +----------- empty <-----------+
 *
 * The stamp word is a lock. If it is even, it is twice the next sequence
 * number; if odd, a thread has taken a number and is reading the clock. So
 * numbers and clock readings have the same order, if the processors' clocks
 * agree. If they do not, the file shows it: in sequence order, its times go
 * backwards.
 *
 * Invariants
 *   I1  Sequence numbers of events are unique and grow in the order in which
 *       stamps are taken; no event uses the stamp of the session's start, so
 *       none has number 0, which means "never".
 *   I2  A buffer has one owner: a processor, the threads without a processor,
 *       the queue, the empty list, or the reader.
 *   I3  A buffer with bytes begins with a batch header, and no event is split
 *       between two buffers.
 *   I4  Buffers of one processor are queued in the order they were filled
 *       (trace_buffer.c).
 *   I5  If an event is dropped because there is no buffer, all events with
 *       higher stamps are dropped: `closed` is read and set while the stamp is
 *       odd.
 *   I6  A session's stacks are numbered and its events written between its
 *       start and its stop. For events of a processor the stopped world ensures
 *       this; for events of no processor `events_lock` does, which start and
 *       stop also take.
 *
 * Why the decision to drop is made while the stamp word is held: after one
 * processor has lost an event, another that still has room must not go on, or
 * the trace could show a task start that was never created.
 *
 * Which calls may run together ("-": any, "X": the caller must prevent it, "L":
 * a lock excludes them, "B": the second gets PROF_ERR_BUSY):
 *                      emit, proc   emit, no proc   start, stop   read
 *      emit, its proc       X             -              X          -
 *      emit, other proc     -             -              X          -
 *      emit, no proc        -             L              L          -
 *      start, stop          X             L              X          -
 *      read                 -             -              -          B
 */
#include <string.h>

#include "prof/core/assertion.h"
#include "prof/trace/trace_clock.h"
#include "prof/trace/trace_stamp.h"
#include "prof/trace/tracer.h"

#include "prof/core/poison.h"

/* ---- the stamp ---- */

struct raw_stamp
prof_trace_take_stamp(struct prof_trace *trace)
{
    const uint64_t word = trace_hold_stamp(trace);
    const struct raw_stamp stamp =
        trace->order == PROF_TRACE_ORDER_CLOCK
            ? prof_trace_clock_stamp(trace)
            : (struct raw_stamp){.sequence = word / 2,
                                 .clock_ticks = trace_ticks_now(trace)};

    /* Release [pair: stamp]: the clock was read before the next may. */
    store_release(&trace->stamp, word + 2);
    return stamp;
}

/* Ticks start at 1: in the file, a syscall exit at tick 0 has no known time. */
static struct prof_trace_stamp
in_file_ticks(const struct prof_trace *trace, struct raw_stamp raw)
{
    return (struct prof_trace_stamp){
        .sequence = raw.sequence,
        .ticks = trace_file_ticks(trace, raw.clock_ticks),
    };
}

/* Take a stamp for an event; false if the trace ended before it (I5). */
static bool
stamp_event(struct prof_trace *trace, bool has_room,
            struct prof_trace_stamp *stamp)
{
    const uint64_t word = trace_hold_stamp(trace);
    bool is_open;

    trace->closed |= !has_room;
    is_open = !trace->closed;
    *stamp = in_file_ticks(
        trace, (struct raw_stamp){word / 2, trace_ticks_now(trace)});
    /* Release [pair: stamp]: as above. */
    store_release(&trace->stamp, is_open ? word + 2 : word);
    return is_open;
}

struct prof_trace_stamp
prof_trace_stamp(struct prof_trace *trace)
{
    /* Acquire [pair: on]: take a stamp after those of start. */
    if (load_acquire(&trace->on) == 0)
        return (struct prof_trace_stamp){0};
    return in_file_ticks(trace, prof_trace_take_stamp(trace));
}

/* ---- the buffers ---- */

/*
 * Make room for one event. An empty buffer has room for a batch header as well
 * (trace_init.c).
 */
static bool
make_room(struct prof_trace *trace, struct trace_buffer **owned)
{
    if (trace_has_room(*owned))
        return true;
    prof_trace_give_up(trace, owned);
    *owned = prof_trace_take_empty(trace);
    return *owned != NULL;
}

/* ---- the events ---- */

struct event {
    enum prof_trace_event kind;
    const uint64_t *args;
    uint64_t stack; /* id */
    struct prof_trace_stamp stamp;
};

/* context: room for the event and a batch header */
static void
put_event(struct trace_buffer *buffer, uint64_t proc, const struct event *event)
{
    const uint32_t args = prof_trace_shapes[event->kind].args;
    const bool has_stack = prof_trace_shapes[event->kind].stack;
    const uint32_t more = args + has_stack;
    uint32_t begin;

    if (buffer->used_bytes == 0)
        prof_trace_put_batch(buffer, proc, &event->stamp);
    trace_put_byte(buffer, (uint8_t)(event->kind | (more < 3 ? more : 3) << 6));
    begin = buffer->used_bytes;
    if (more >= 3)
        trace_put_byte(buffer, 0); /* the length; below 128, so one byte */
    trace_put_number(buffer, event->stamp.sequence - buffer->last_sequence);
    trace_put_number(buffer, event->stamp.ticks - buffer->last_ticks);
    for (uint32_t i = 0; i < args; i++)
        trace_put_number(buffer, event->args[i]);
    if (has_stack)
        trace_put_number(buffer, event->stack);
    if (more >= 3)
        buffer->bytes[begin] = (uint8_t)(buffer->used_bytes - begin - 1);
    buffer->last_sequence = event->stamp.sequence;
    buffer->last_ticks = event->stamp.ticks;
    PROF_ASSERT(buffer->used_bytes <= buffer->limit_bytes);
}

/* Number the stack; 0 if it is empty or there is no room for it. */
static uint64_t
stack_id(struct prof_trace *trace, const uintptr_t *stack, uint32_t depth)
{
    uint32_t id;

    if (depth == 0)
        return 0;
    id = prof_table_intern(&trace->stacks, KIND_HEAP, stack, depth, 0);
    if (id == 0)
        add_relaxed(&trace->no_stack, 1); /* a count, it orders nothing */
    return id;
}

static void
write_event(struct prof_trace *trace, uint32_t proc, struct event *event)
{
    const bool is_on_proc = proc != PROF_TRACE_NO_PROC;
    struct trace_buffer **const owned =
        is_on_proc ? &trace->procs[proc].buffer : &trace->outside.buffer;
    const bool has_room = make_room(trace, owned);

    if (stamp_event(trace, has_room, &event->stamp))
        put_event(*owned, is_on_proc ? proc : UINT64_MAX, event);
    else
        add_relaxed(&trace->no_buffer, 1); /* as above */
}

void
prof_trace_emit_started(struct prof_trace *trace, uint32_t proc,
                        enum prof_trace_event kind, const uint64_t *args,
                        const uintptr_t *stack, uint32_t depth)
{
    uint64_t id = 0;

    PROF_ASSERT(kind < TRACE_SHAPES);
    if (prof_trace_shapes[kind].stack)
        id = stack_id(trace, stack, depth);
    if (trace->order == PROF_TRACE_ORDER_CLOCK)
        prof_trace_emit_clocked(trace, proc, kind, args, id);
    else
        write_event(trace, proc,
                    &(struct event){.kind = kind, .args = args, .stack = id});
}

/* Is there a session to write to? If so, it lasts until leave() (I6). */
static bool
enter(struct prof_trace *trace, uint32_t proc)
{
    PROF_ASSERT(proc < trace->procs_count || proc == PROF_TRACE_NO_PROC);
    /* Acquire [pair: on]: stamps and stacks of this session only. */
    if (load_acquire(&trace->on) == 0)
        return false;
    if (proc != PROF_TRACE_NO_PROC)
        return true;
    prof_port_lock_take(&trace->events_lock);
    if (load_relaxed(&trace->on) != 0) /* the lock orders it */
        return true;
    prof_port_lock_release(&trace->events_lock);
    return false;
}

static void
leave(struct prof_trace *trace, uint32_t proc)
{
    if (proc == PROF_TRACE_NO_PROC)
        prof_port_lock_release(&trace->events_lock);
}

static __attribute__((noinline)) void
emit_outside(struct prof_trace *trace, enum prof_trace_event kind,
             const uint64_t *args, const uintptr_t *stack, uint32_t depth)
{
    if (!enter(trace, PROF_TRACE_NO_PROC))
        return;
    prof_trace_emit_started(trace, PROF_TRACE_NO_PROC, kind, args, stack,
                            depth);
    leave(trace, PROF_TRACE_NO_PROC);
}

void
prof_trace_emit(struct prof_trace *trace, uint32_t proc,
                enum prof_trace_event kind, const uint64_t *args,
                const uintptr_t *stack, uint32_t depth)
{
    const struct trace_shape *const shape = &prof_trace_shapes[kind];
    uint32_t way;

    PROF_ASSERT(kind < TRACE_SHAPES);
    if (proc >= trace->procs_count) {
        PROF_ASSERT(proc == PROF_TRACE_NO_PROC);
        emit_outside(trace, kind, args, stack, depth);
        return;
    }
    /* Acquire [pair: on]: as in enter(), and nothing to leave. */
    way = load_acquire(&trace->on);
#if defined(__x86_64__)
    if (way == WAY_CYCLES && shape->is_short &&
        trace_has_room(trace->procs[proc].buffer)) {
        trace_clock_put(trace, &trace->procs[proc], shape,
                        shape->args != 0 ? *args : 0);
        return;
    }
#endif
    if (way != WAY_NONE)
        prof_trace_emit_started(trace, proc, kind, args, stack, depth);
}

/* Was the stamp taken before this session began, or never? Compared by
 * difference, because the clock may wrap between the two moments. */
static bool
is_of_before(const struct prof_trace *trace,
             const struct prof_trace_stamp *left)
{
    return (left->sequence == 0 && left->ticks == 0) ||
           (int64_t)(left->sequence - trace->sequence_first) < 0;
}

void
prof_trace_sysexit(struct prof_trace *trace, uint32_t proc, uint64_t task,
                   struct prof_trace_stamp left)
{
    uint64_t args[3];

    if (!enter(trace, proc))
        return;
    if (is_of_before(trace, &left))
        left = in_file_ticks(trace, prof_trace_take_stamp(trace));
    args[0] = task;
    args[1] = trace->order == PROF_TRACE_ORDER_CLOCK
                  ? prof_trace_clock_moment(trace, left.sequence)
                  : left.sequence;
    args[2] = left.ticks != 0 ? left.ticks : 1; /* 0: the clock wrapped */
    prof_trace_emit_started(trace, proc, PROF_EV_GO_SYSEXIT, args, NULL, 0);
    leave(trace, proc);
}

void
prof_trace_proc_free(struct prof_trace *trace, uint32_t proc)
{
    PROF_ASSERT(proc < trace->procs_count);
    prof_trace_give_up(trace, &trace->procs[proc].buffer);
}

void
prof_trace_timer_task(struct prof_trace *trace, uint64_t task)
{
    prof_port_lock_take(&trace->lock);
    trace->timer_task = task;
    prof_port_lock_release(&trace->lock);
}

bool
prof_trace_is_on(const struct prof_trace *trace)
{
    return load_relaxed(&trace->on) != 0; /* out of date anyway */
}

struct prof_trace_drops
prof_trace_drops(const struct prof_trace *trace)
{
    return (struct prof_trace_drops){
        .no_buffer = load_relaxed(&trace->no_buffer), /* counts */
        .no_stack = load_relaxed(&trace->no_stack),
    };
}
