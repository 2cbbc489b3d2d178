/*
 * trace_reader.h -- reads a "go 1.5 trace" file, and checks whether the events
 * it describes are possible.
 *
 * The reader accepts any bytes and gives one of three verdicts:
 *
 *      ok          every check holds; the events are in their true order
 *      time-order  the format is right, but in the order of the sequence
 *                  numbers time runs backwards (skewed or unsteady clocks)
 *      error       the file is broken, or describes events that are impossible
 *
 * The checks come in stages. Each stage checks the whole file before the next
 * begins, so the first stage that fails decides:
 *
 *      bytes    -> trace_wire.c   records, numbers, lengths
 *      records  -> trace_reader.c arguments, frequency, stacks, goroutines
 *      order    -> trace_order.c  by sequence; then time must not run back
 *      futile   -> trace_order.c  wake-ups that led to nothing are removed
 *      states   -> trace_rules.c  goroutines and processors obey their states
 *
 * Memory: at most 72 bytes per event (an event has at least three bytes in the
 * file), and 56 per goroutine, processor or stack. Arrays grow by doubling.
 */
#ifndef MODEL_TRACE_TRACE_READER_H
#define MODEL_TRACE_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace/trace_map.h"
#include "model/trace/trace_wire.h"

enum model_trace_verdict {
    MODEL_TRACE_OK,
    MODEL_TRACE_TIME_ORDER,
    MODEL_TRACE_ERROR,
};

/* The track to which an event belongs, usually that of its batch's
 * processor. */
enum model_trace_track {
    MODEL_TRACE_ON_PROC,
    MODEL_TRACE_ON_TIMERS,   /* unblocked by a timer goroutine */
    MODEL_TRACE_ON_NETWORK,  /* unblocked from a network wait */
    MODEL_TRACE_ON_SYSCALLS, /* a return from a system call */
    MODEL_TRACE_ON_GC,       /* the start of a collection */
};

struct model_trace_event {
    uint64_t offset_bytes; /* in the file */
    int64_t seq;           /* sequence number; for a syscall exit the true
                              one */
    int64_t ticks;         /* the same */
    uint64_t g;            /* goroutine that did it; 0: none */
    uint64_t arg;          /* goroutine created, started, unblocked or leaving a
                              syscall; thread of ProcStart; value of a counter */
    uint64_t pc;           /* GoCreate, first GoStart: of the new goroutine */
    uint64_t stack;        /* stack id, 0: none */
    uint32_t proc;         /* index for model_trace_proc_id() */
    uint8_t type;          /* enum model_trace_type */
    uint8_t track;         /* enum model_trace_track */
    bool is_futile;        /* part of a futile wake-up; never seen in `order` */
};

struct model_trace {
    enum model_trace_verdict verdict;
    struct model_trace_reason reason; /* unless ok */
    struct model_trace_wire wire;     /* borrows the bytes of the last read */

    struct model_trace_event *events; /* in file order */
    uint32_t events_count;
    uint32_t events_room;
    uint32_t *order; /* indexes of events, in their true order */
    uint32_t order_count;
    uint32_t order_room; /* for the order; as much again is scratch */

    struct model_trace_map procs;  /* ids as written, -1 as 2^64-1 */
    struct model_trace_map timers; /* goroutines that run timers */
    struct model_trace_map stacks; /* stack ids */
    uint64_t *stack_offsets;       /* of the stack's record, by stack index */
    uint32_t stack_offsets_room;
    uint64_t *proc_gs; /* by processor: its goroutine, while decoding */
    uint32_t proc_gs_room;

    int64_t ticks_per_second; /* 0: not in the file */
    int64_t first_ticks;      /* of the first event in order, futile or not */
    uint64_t batches;
    uint64_t stack_records;
    uint64_t futile_events;
    uint64_t duplicate_seqs; /* events with the same number as the one before */
};

/* returns: "ok", "time-order" or "error" */
const char *model_trace_verdict_name(enum model_trace_verdict verdict);

/* out: *trace, empty; needs a release later */
void model_trace_init(struct model_trace *trace);

/*
 * Read and judge a file.
 *
 * out:     *trace; on a verdict other than ok it has the results of the stages
 *          that were passed, and order_count is 0 if sorting was not reached
 * in:      trace, initialised or used before; its memory is used again
 *          bytes, borrowed until the next read or release
 * returns: the verdict; running out of memory is MODEL_TRACE_ERROR with the
 *          reason "out of memory"
 */
enum model_trace_verdict model_trace_read(struct model_trace *trace,
                                          const uint8_t *bytes,
                                          size_t bytes_count);

void model_trace_release(struct model_trace *trace);

/* returns: the number of events after futile wake-ups are removed */
uint32_t model_trace_count(const struct model_trace *trace);

/* returns: the index-th event in true order; index < model_trace_count() */
static inline const struct model_trace_event *
model_trace_at(const struct model_trace *trace, uint32_t index)
{
    return &trace->events[trace->order[index]];
}

/* returns: the id of the processor with index `proc`; -1: none */
static inline int64_t
model_trace_proc_id(const struct model_trace *trace, uint32_t proc)
{
    return (int64_t)trace->procs.nodes[proc].key;
}

/*
 * Nanoseconds from the first event (futile or not) to `ticks`, rounded down;
 * UINT64_MAX if that does not fit.
 *
 * in:      trace, with the verdict ok
 */
uint64_t model_trace_ns(const struct model_trace *trace, int64_t ticks);

/* returns: a span of ticks in nanoseconds, rounded down; UINT64_MAX if that
 *          does not fit */
uint64_t model_trace_span_ns(const struct model_trace *trace, uint64_t ticks);

/*
 * The frames of a stack.
 *
 * out:     pcs, room for MODEL_TRACE_FRAMES_MAX
 * returns: how many; 0 if the file does not have the stack
 */
uint32_t model_trace_stack(const struct model_trace *trace, uint64_t stack,
                           uint64_t *pcs);

/* The stages that follow; see the top of this file. returns: the verdict so
 * far */
enum model_trace_verdict model_trace_sort(struct model_trace *trace);
enum model_trace_verdict model_trace_drop_futile(struct model_trace *trace);
enum model_trace_verdict model_trace_obey(struct model_trace *trace);

/* Set the verdict and its reason, formatted as by printf(). returns: the
 * verdict */
enum model_trace_verdict
model_trace_reject(struct model_trace *trace, enum model_trace_verdict verdict,
                   uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* returns: MODEL_TRACE_ERROR, with the reason "out of memory" */
enum model_trace_verdict model_trace_no_memory(struct model_trace *trace);

#endif
