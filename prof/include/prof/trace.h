/*
 * prof/trace.h -- the execution tracer: what every task and processor does, in
 * one total order, as a file in the "go 1.5 trace" format.
 *
 * Each event takes a *stamp*: a sequence number and the clock, read together,
 * so the order of numbers is the order of clock readings whatever processor
 * made them. Or each processor reads the clock for itself, and the numbers are
 * made of what it read (enum prof_trace_order). Events go into buffers, one a
 * processor, without any lock; full buffers queue up for one reader.
 *
 * Memory is bounded. If the reader falls so far behind that no buffer is free,
 * the trace ends there: the first event without room and all that follow it are
 * dropped and counted, so what is in the file is a gapless prefix of what
 * happened. Stacks are not in the buffers and are never lost to a slow reader.
 */
#ifndef PROF_TRACE_H
#define PROF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof_trace; /* a tracer; opaque */

#define PROF_TRACE_BUFFER_BYTES     65536U /* of a buffer, by default */
#define PROF_TRACE_BUFFER_BYTES_MIN 128U
#define PROF_TRACE_DEPTH_LIMIT      128U       /* frames kept of a stack */
#define PROF_TRACE_NO_PROC          UINT32_MAX /* an event from no processor */

enum prof_trace_event {
#define PROF_X(id, number, name, args, stack) id = number,
#include "prof/trace_event.def"
#undef PROF_X
};

/* Where time comes from. Both are called with `context`. */
struct prof_trace_clock {
    uint64_t (*ticks)(void *context);  /* NULL: the cycle counter */
    uint64_t (*now_ns)(void *context); /* NULL: the system's monotonic clock */
    void *context;
};

/* What puts the events of different processors in order. */
enum prof_trace_order {
    /* One counter, taken together with the clock: any clock will do. */
    PROF_TRACE_ORDER_STAMPS,
    /*
     * The clock alone; processors share nothing. All processors must see the
     * same clock, and between an event and one that follows from it on another
     * processor it must move on (docs/trace-format.md, "Two orders"). A session
     * ends, its later events counted as dropped, no earlier than 2^61 ticks
     * divided by procs_max + 2: at 3 GHz eight days of 1,024 processors.
     */
    PROF_TRACE_ORDER_CLOCK
};

struct prof_trace_config {
    uint32_t procs_max;    /* processors, numbered from 0; 1 .. 65536 */
    uint32_t buffers_max;  /* at least procs_max + 2 */
    uint32_t buffer_bytes; /* 0: PROF_TRACE_BUFFER_BYTES */
    uint32_t stacks_max;   /* distinct stacks a session; 0: 16384 */
    uint64_t frames_max;   /* frames of them all; 0: 32 a stack */
    uint32_t tick_divisor; /* clock ticks in one tick of the file; 0: 64 */
    enum prof_trace_order order;
    struct prof_trace_clock clock;
};

/* returns: bytes that prof_trace_init() needs, 0 for a wrong configuration */
size_t prof_trace_bytes_needed(const struct prof_trace_config *config);

/*
 * Build a tracer inside `block`; it is off.
 *
 * out:     *trace, valid until the caller reuses `block`
 * in:      block, aligned to 64 bytes, all bytes zero; the tracer's from now on
 * returns: PROF_OK, PROF_ERR_CONFIG, PROF_ERR_MEMORY. On error nothing is
 *          touched.
 */
PROF_NODISCARD enum prof_status
prof_trace_init(struct prof_trace **trace,
                const struct prof_trace_config *config, void *block,
                size_t block_bytes);

/* -------------------------------------------------------------- control plane
 *
 * start and stop are called in the stopped world: no event is in flight on any
 * processor. Events from no processor may be; they take a lock.
 */

/* A task that exists when tracing starts. */
struct prof_trace_task {
    uint64_t id; /* not 0 */
    uint64_t start_pc;
    const uintptr_t *stack; /* where it was created */
    uint32_t depth;
    enum {
        PROF_TASK_RUNNABLE,
        PROF_TASK_WAITING,
        PROF_TASK_IN_SYSCALL
    } state; /* of the calling task: runnable */
};

/* What start must tell the trace about the world it begins in. */
struct prof_trace_world {
    uint32_t proc;   /* of the caller */
    uint64_t thread; /* of the caller */
    uint64_t task;   /* the caller; among those of `next` */
    /* Gives one task after the other; false after the last. */
    bool (*next)(void *context, struct prof_trace_task *task);
    void *context;
    bool is_collecting; /* a collection has begun and not ended */
};

/*
 * Begin a session: every task, then the caller running on its processor.
 *
 * returns: PROF_OK; PROF_ERR_BUSY if tracing is on, or the session before has
 *          not been read to its end
 */
PROF_NODISCARD enum prof_status
prof_trace_start(struct prof_trace *trace,
                 const struct prof_trace_world *world);

/*
 * End the session. Its rest is for the reader; prof_trace_stop_wait() waits
 * until it was taken.
 *
 * in:      proc of the caller, and its stack: it is descheduled by this
 * returns: PROF_OK; PROF_ERR_OFF if tracing is not on
 */
PROF_NODISCARD enum prof_status prof_trace_stop(struct prof_trace *trace,
                                                uint32_t proc,
                                                const uintptr_t *stack,
                                                uint32_t depth);

/*
 * Wait until the reader has taken all of the session that was stopped, that is
 * until prof_trace_read() has returned PROF_ERR_END: then a session may start.
 * The reader may not have returned yet; join it before the trace's memory is
 * used for anything else.
 *
 * Without a reader it waits for ever. If the reader may have died, read the
 * rest with prof_trace_read() instead, which any thread may do; that also ends
 * the waiting of others. The child of a fork has no reader: prof/fork.h.
 *
 * returns: PROF_OK, at once if there is no session; PROF_ERR_BUSY, at once if
 *          tracing is on
 * context: any threads but the reader, after the world was restarted; not a
 *          signal handler. A signal does not end it
 */
PROF_NODISCARD enum prof_status prof_trace_stop_wait(struct prof_trace *trace);

/* context: any; may be out of date when it returns */
bool prof_trace_is_on(const struct prof_trace *trace);

/* ---------------------------------------------------------------- record plane
 *
 * What readers take for granted, and only the caller can know:
 *   - a task that the file says is in a system call comes back by
 *     prof_trace_sysexit() before its next PROF_EV_GO_START;
 *   - scans and sweeps end on the processor they began on, and before the world
 *     stops for a start;
 *   - PROF_EV_FUTILE_WAKEUP marks only wake-ups that are in the file from their
 *     PROF_EV_GO_UNBLOCK on.
 */

/*
 * Trace an event. Does nothing while tracing is off.
 *
 * in:      proc, on which it happens; used by one thread at a time.
 *          PROF_TRACE_NO_PROC: none
 *          args, as many as the event has (trace_event.def), NULL for none
 *          stack, `depth` return addresses, leaf first, for events that have
 *          one; cut at PROF_TRACE_DEPTH_LIMIT
 * context: not a signal handler: it spins while another stamp is being taken
 */
void prof_trace_emit(struct prof_trace *trace, uint32_t proc,
                     enum prof_trace_event event, const uint64_t *args,
                     const uintptr_t *stack, uint32_t depth);

/* A moment, to be told about later. All zero: never. */
struct prof_trace_stamp {
    uint64_t sequence; /* of the tracer; comparable across sessions */
    uint64_t ticks;    /* of the file */
};

/*
 * Note the moment a thread comes out of a system call, without a processor. The
 * event that took the processor away (PROF_EV_GO_SYSBLOCK) must have been
 * emitted before, or the file tells the return before the loss.
 *
 * returns: the stamp, all zero if tracing is off
 */
struct prof_trace_stamp prof_trace_stamp(struct prof_trace *trace);

/*
 * Trace that a task came out of a system call at `left`. A moment before this
 * session began counts as now, so that the event is never missing.
 *
 * context: as prof_trace_emit()
 */
void prof_trace_sysexit(struct prof_trace *trace, uint32_t proc, uint64_t task,
                        struct prof_trace_stamp left);

/* Hand over the buffer of a processor that will not run any more. */
void prof_trace_proc_free(struct prof_trace *trace, uint32_t proc);

/* Name the task that runs timers; its wake-ups belong to no processor. The
 * file names the one that is valid when its session stops; 0: none. */
void prof_trace_timer_task(struct prof_trace *trace, uint64_t task);

/* ---- reading ---- */

/*
 * Take the next bytes of the trace. They are the file, in order.
 *
 * out:     *bytes, *bytes_count (> 0), the caller's until its next call
 * returns: PROF_OK; PROF_ERR_AGAIN if there is nothing yet (prof_trace_wait());
 *          PROF_ERR_END after the last bytes of a session, once; PROF_ERR_OFF
 *          if there is no session; PROF_ERR_BUSY if another reader is in here
 *          or asleep
 * context: any thread, one at a time
 */
PROF_NODISCARD enum prof_status prof_trace_read(struct prof_trace *trace,
                                                const uint8_t **bytes,
                                                size_t *bytes_count);

/*
 * Sleep until prof_trace_read() has something to say.
 *
 * returns: PROF_OK, perhaps too early; PROF_ERR_BUSY if another reader is in
 *          here or asleep
 * context: as prof_trace_read()
 */
PROF_NODISCARD enum prof_status prof_trace_wait(struct prof_trace *trace);

/* What was lost, by cause, since the session began; ordered by the clock, it
 * is known when the trace was read to its end. */
struct prof_trace_drops {
    uint64_t no_buffer; /* events: the reader was too slow; the trace ends */
    uint64_t no_stack;  /* events whose stack was left out: too many stacks */
};

struct prof_trace_drops prof_trace_drops(const struct prof_trace *trace);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
