/* tracer.h -- the fields of struct prof_trace; theory in trace.c. */
#ifndef PROF_TRACER_H
#define PROF_TRACER_H

#include <stdalign.h>

#include "atomic.h"
#include "prof/port.h"
#include "prof/trace.h"
#include "table.h"
#include "trace_buffer.h"

/* Records that only the tracer itself writes. */
enum { EV_BATCH = 1, EV_FREQUENCY = 2, EV_STACK = 3, EV_TIMER_TASK = 35 };

/* Where a session stands. */
enum trace_stage {
    STAGE_OFF,
    STAGE_ON,
    STAGE_DRAINING /* stopped, not yet read to its end */
};

/* What the reader has given out. */
enum trace_part {
    PART_HEADER,
    PART_EVENTS,
    PART_STACKS,
    PART_FOOTER,
    PART_END
};

struct trace_proc {
    alignas(PROF_BLOCK_ALIGN) struct trace_buffer *buffer; /* its thread's */
};

struct prof_trace {
    struct prof_trace_clock clock; /* immutable after init, to procs */
    uint32_t tick_divisor;
    uint32_t buffer_bytes;
    uint32_t buffers_count;
    uint32_t procs_count;
    struct table_layout stacks_layout;
    struct trace_proc *procs;

    struct table stacks; /* any thread; emptied by start, stopped world */

    alignas(PROF_BLOCK_ALIGN) shared_u64 stamp; /* 2 * sequence, odd: taken */
    uint32_t closed;      /* guarded by stamp: no event has room any more */
    shared_u32 on;        /* any thread reads; written in the stopped world */
    shared_u64 no_buffer; /* events dropped; any thread */
    shared_u64 no_stack;

    struct port_lock events_lock; /* events from no processor */
    struct trace_buffer *events;  /* guarded by events_lock */

    struct port_lock lock;      /* the queue and the reader */
    struct trace_queue full;    /* guarded by lock, as the rest */
    struct trace_buffer *empty; /* last in, first out */
    struct trace_buffer *lent;  /* to the reader */
    enum trace_stage stage;
    enum trace_part part;
    uint32_t stack_next; /* PART_STACKS: the next row */
    uint32_t stack_done; /* ... 0, or 1 + its frames already written */
    uint64_t timer_task;
    uint64_t timer_task_named; /* by the session that has stopped */

    uint64_t sequence_first; /* written in the stopped world, as below */
    uint64_t ticks_start;    /* of the clock */
    uint64_t ticks_end;
    uint64_t ns_start;
    uint64_t ns_end;
    struct port_lock reader_lock; /* one reader at a time, never waited for */
    shared_u32 news;              /* grows when the reader has something new */
};

/* A stamp with the clock as it was read. */
struct raw_stamp {
    uint64_t sequence;
    uint64_t clock_ticks;
};

/* Take a stamp. context: as prof_trace_emit() */
struct raw_stamp prof_trace_take_stamp(struct prof_trace *trace);

/*
 * Trace an event of the session at hand, although it is not on yet.
 *
 * context: as trace.c, I6
 */
void prof_trace_emit_started(struct prof_trace *trace, uint32_t proc,
                             enum prof_trace_event event, const uint64_t *args,
                             const uintptr_t *stack, uint32_t depth);

/* Queue a buffer if it has bytes, else put it back. in, out: *owned, NULL
 * afterwards. context: its owner */
void prof_trace_give_up(struct prof_trace *trace, struct trace_buffer **owned);

/* Tell the reader, awake or asleep, that there is something new. */
void prof_trace_tell_reader(struct prof_trace *trace);

#endif
