/* tracer.h -- the fields of struct prof_trace; theory in trace.c. */
#ifndef PROF_TRACE_TRACER_H
#define PROF_TRACE_TRACER_H

#include <stdalign.h>

#include "prof/core/atomic.h"
#include "prof/port.h"
#include "prof/trace.h"
#include "prof/core/table.h"
#include "prof/trace/trace_buffer.h"

/* Records that only the tracer itself writes. */
enum { EV_BATCH = 1, EV_FREQUENCY = 2, EV_STACK = 3, EV_TIMER_TASK = 35 };

/* The state of a session. */
enum trace_stage {
    STAGE_OFF,
    STAGE_ON,
    STAGE_DRAINING /* stopped, not yet read to its end */
};

/* How prof_trace_emit() writes events at the moment. */
enum trace_way {
    WAY_NONE,   /* the trace is off */
    WAY_ANY,    /* by trace->order */
    WAY_CYCLES, /* ordered by the CPU's cycle counter; fast path for short
                   events */
};

/* What the reader has returned. */
enum trace_part {
    PART_HEADER,
    PART_EVENTS,
    PART_STACKS,
    PART_FOOTER,
    PART_END
};

/* A writer of events: a processor, or all threads without one together. */
struct trace_proc {
    alignas(PROF_BLOCK_ALIGN) struct trace_buffer *buffer; /* only its thread */
    uint64_t last_clock; /* of its latest event; clock order only */
};

struct prof_trace {
    struct prof_trace_clock clock; /* immutable after init; so is all up to
                                      procs */
    enum prof_trace_order order;
    uint32_t tick_divisor;
    uint32_t tick_shift; /* log2 of the divisor; 64: not a power of 2 */
    uint32_t lane_bits;  /* of a sequence number, in clock order */
    uint32_t procs_count;
    struct table_layout stacks_layout;
    struct trace_proc *procs;
    unsigned char *buffers; /* buffers_count buffers, buffer_stride bytes
                               apart */
    size_t buffer_stride;
    uint32_t buffers_count;

    struct table stacks; /* any thread; start empties it, in the stopped
                            world */

    alignas(PROF_BLOCK_ALIGN) shared_u64 stamp; /* 2 * next sequence number;
                                                   odd: held */
    uint64_t stamp_clock; /* guarded by stamp: the latest reading */
    uint32_t closed;      /* guarded by stamp: no further event is accepted */
    shared_u32 on;        /* any thread reads; written in the stopped world */
    shared_u64 no_buffer; /* events dropped; any thread */
    shared_u64 no_stack;

    struct prof_port_lock events_lock; /* events from no processor */
    struct trace_proc outside;         /* guarded by events_lock */

    struct prof_port_lock lock;         /* the queue and the reader */
    struct trace_queue full;            /* guarded by lock, as the rest up
                                           to the next empty line */
    struct trace_buffer *empty;         /* last in, first out */
    struct trace_buffer *reader_buffer; /* owned by the reader */
    enum trace_stage stage;
    enum trace_part part;
    bool is_cut;         /* in clock order: the trace ends ... */
    uint64_t cut_before; /* ... before this sequence number */
    uint32_t stack_next; /* PART_STACKS: the next row */
    uint32_t stack_done; /* ... 0, or 1 + its frames already written */
    uint64_t timer_task;
    uint64_t timer_task_named; /* as it was when the session stopped */

    uint64_t sequence_first; /* written in the stopped world, as below */
    uint64_t clock_first;    /* of the session; sequence numbers count from
                                it */
    bool has_met;            /* the clocks of lanes have been aligned */
    uint64_t ticks_start;    /* of the clock */
    uint64_t ticks_end;
    uint64_t ns_start;
    uint64_t ns_end;
    struct prof_port_lock reader_lock; /* one reader at a time; only tried */
    shared_u32 reader_wakeups; /* grows when the reader has something new */
    shared_u32 ends;           /* sessions read to their end */
};

/* A stamp with the clock as it was read. */
struct raw_stamp {
    uint64_t sequence;
    uint64_t clock_ticks;
};

/* The form of an event. */
struct trace_shape {
    alignas(8) uint8_t args;
    bool stack;
    bool is_short; /* no stack, at most one argument */
    bool crosses;  /* caused by an event of another processor */
    uint8_t first; /* first byte: the kind, and from bit 6 on how many
                      numbers */
};

#define TRACE_SHAPES (PROF_EV_FUTILE_WAKEUP + 1U)
/* Hidden, so that its address needs no load. */
extern const struct trace_shape prof_trace_shapes[TRACE_SHAPES]
    __attribute__((visibility("hidden")));

/* The port sleeps on plain words. */
static inline const uint32_t *
trace_word(const shared_u32 *word)
{
    return (const uint32_t *)(const void *)word;
}

/* returns: ticks of the file; never 0, which means an unknown time there */
static inline uint64_t
trace_file_ticks(const struct prof_trace *trace, uint64_t clock_ticks)
{
    return (trace->tick_shift < 64 ? clock_ticks >> trace->tick_shift
                                   : clock_ticks / trace->tick_divisor) +
           1;
}

/*
 * Write an event in clock order (trace_clock.c).
 *
 * in:      stack, its id
 * context: as trace.c, I6
 */
void prof_trace_emit_clocked(struct prof_trace *trace, uint32_t proc,
                             enum prof_trace_event kind, const uint64_t *args,
                             uint64_t stack);

/* Take a stamp whose sequence number is the clock reading, too. context: stamp
 * word held */
struct raw_stamp prof_trace_clock_stamp(struct prof_trace *trace);

/* returns: the sequence number, in this session, of a stamp read at `clock` */
uint64_t prof_trace_clock_moment(const struct prof_trace *trace,
                                 uint64_t clock);

/*
 * Make all later events follow all earlier ones, even if the clock does not
 * advance. Affects processors that have no buffer.
 *
 * in:      begins, true if the session has no events yet: sequence numbers then
 *          count from here
 * context: the stopped world, in clock order
 */
void prof_trace_clock_meet(struct prof_trace *trace, bool begins);

/*
 * Let a tracer's first session follow the one of another tracer, whose stamps
 * it continues. Does nothing if it had a session, or the other had none in
 * clock order.
 *
 * context: both are off
 */
void prof_trace_clock_go_on(struct prof_trace *trace,
                            const struct prof_trace *after);

/*
 * Drop and count the events whose sequence number is trace->cut_before or more.
 *
 * in, out: buffer, begins with a batch header
 * returns: whether an event is left
 * context: lock held
 */
bool prof_trace_cut(struct prof_trace *trace, struct trace_buffer *buffer);

/* returns: an empty buffer; NULL if there is none or the trace is cut */
struct trace_buffer *prof_trace_take_empty(struct prof_trace *trace);

/* Write a buffer's batch header: its processor, and the stamp from which the
 * events in it count. */
void prof_trace_put_batch(struct trace_buffer *buffer, uint64_t proc,
                          const struct prof_trace_stamp *stamp);

/* Take a stamp. context: as prof_trace_emit() */
struct raw_stamp prof_trace_take_stamp(struct prof_trace *trace);

/*
 * Trace an event of the session that is starting, before it is on.
 *
 * context: as trace.c, I6
 */
void prof_trace_emit_started(struct prof_trace *trace, uint32_t proc,
                             enum prof_trace_event event, const uint64_t *args,
                             const uintptr_t *stack, uint32_t depth);

/* Queue a buffer if it has bytes, else put it back. in, out: *owned, NULL
 * afterwards. context: its owner */
void prof_trace_give_up(struct prof_trace *trace, struct trace_buffer **owned);

/* Put all buffers on the empty list. context: no buffer is in use */
void prof_trace_empty_buffers(struct prof_trace *trace);

/* returns: whether less than half of the buffers are empty */
bool prof_trace_is_filling(struct prof_trace *trace);

/* Forget a stopped session. The caller makes sure that no thread reads it or
 * waits for its end. Does nothing if there is none. */
void prof_trace_discard(struct prof_trace *trace);

/* Note that there is something to read, and wake the reader if it
 * sleeps. */
void prof_trace_notify_reader(struct prof_trace *trace);

#endif
