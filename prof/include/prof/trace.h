/*
 * prof/trace.h -- the execution tracer: what every task and processor does, in
 * one total order, as a file in the "go 1.5 trace" format.
 *
 * Events are ordered in one of two ways (enum prof_trace_order). In the first,
 * each event takes a *stamp*: a sequence number and a clock reading taken
 * together, so that numbers and readings have the same order on all processors.
 * In the second, each processor reads the clock by itself, and the readings
 * serve as sequence numbers. Each processor has a buffer, and writes to it
 * without a lock; full buffers queue up for one reader.
 *
 * Memory is bounded. If the reader falls so far behind that no buffer is free,
 * the trace ends there: the first event without room and all later ones are
 * dropped and counted. So the file has no gaps. Stacks are stored separately; a
 * slow reader loses none.
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

/* The two clocks; each function is called with `context`. */
struct prof_trace_clock {
    uint64_t (*ticks)(void *context);  /* NULL: the cycle counter */
    uint64_t (*now_ns)(void *context); /* NULL: the system's monotonic clock */
    void *context;
};

/*
 * How the events of different processors are ordered.
 *
 * Use CLOCK if all processors read one clock that never stands still. The cycle
 * counter of x86-64 is such a clock if /proc/cpuinfo lists constant_tsc and
 * nonstop_tsc. Use STAMPS if you do not know, or if you supply the clock. An
 * event ordered by CLOCK takes a third of the time of one ordered by STAMPS,
 * and threads do not wait for each other.
 */
enum prof_trace_order {
    /* One counter, read together with the clock: any clock will do. */
    PROF_TRACE_ORDER_STAMPS,
    /* The clock alone; processors share nothing. All of them must see the same
     * clock, and it must advance between an event and its consequence on
     * another processor (docs/trace-format.md, "Two orders"). A session may run
     * for 2^61 ticks divided by procs_max + 2, which with 1,024 processors at
     * 3 GHz is eight days; later events are counted as dropped.
     */
    PROF_TRACE_ORDER_CLOCK
};

struct prof_trace_config {
    uint32_t procs_max;    /* processors, numbered from 0; 1 .. 65536 */
    uint32_t buffers_max;  /* at least procs_max + 2 */
    uint32_t buffer_bytes; /* 0: PROF_TRACE_BUFFER_BYTES */
    uint32_t stacks_max;   /* distinct stacks per session; 0: 16384 */
    uint64_t frames_max;   /* frames of all stacks; 0: 32 per stack */
    uint32_t tick_divisor; /* clock ticks per tick of the file; 0: 64 */
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

/* -------------------------------------------------------------- control calls
 *
 * Call start and stop with the world stopped, so that no event is in flight on
 * any processor. Events from no processor may be in flight; they take a lock.
 */

enum prof_trace_task_state {
    PROF_TASK_RUNNABLE,
    PROF_TASK_WAITING,
    PROF_TASK_IN_SYSCALL
};

/* A task that exists when tracing starts. */
struct prof_trace_task {
    uint64_t id; /* not 0 */
    uint64_t start_pc;
    const uintptr_t *stack; /* where it was created */
    uint32_t depth;
    enum prof_trace_task_state state; /* of the calling task: runnable */
};

/* The state of the world when tracing starts. */
struct prof_trace_world {
    uint32_t proc;   /* of the caller */
    uint64_t thread; /* of the caller */
    uint64_t task;   /* of the caller; `next` must list it, too */
    /* returns: true with the next task in *task; false after the last */
    bool (*next)(void *context, struct prof_trace_task *task);
    void *context;
    bool is_collecting; /* a collection has begun and not ended */
};

/*
 * Begin a session. The trace begins with all tasks, then the caller, which runs
 * on its processor.
 *
 * returns: PROF_OK; PROF_ERR_BUSY if tracing is on, or the previous session has
 *          not been read to its end
 */
PROF_NODISCARD enum prof_status
prof_trace_start(struct prof_trace *trace,
                 const struct prof_trace_world *world);

/*
 * End the session. The reader still has to take the rest of the trace;
 * prof_trace_stop_wait() waits for that.
 *
 * in:      the caller's processor and stack, for the last event of the trace,
 *          which shows the caller descheduled
 * returns: PROF_OK; PROF_ERR_OFF if tracing is not on
 */
PROF_NODISCARD enum prof_status prof_trace_stop(struct prof_trace *trace,
                                                uint32_t proc,
                                                const uintptr_t *stack,
                                                uint32_t depth);

/*
 * Wait until prof_trace_read() has returned PROF_ERR_END to the reader; then a
 * new session may start. The reader may still be running: join it before you
 * use the trace's memory for anything else.
 *
 * Without a reader it waits for ever. If the reader may have died, read the
 * rest with prof_trace_read() from any thread; reaching the end also wakes
 * other waiters. The child of a fork has no reader: prof/fork.h.
 *
 * returns: PROF_OK, at once if there is no session; PROF_ERR_BUSY, at once if
 *          tracing is on
 * context: any thread but the reader, after the world was restarted; not a
 *          signal handler. A signal does not end the wait
 */
PROF_NODISCARD enum prof_status prof_trace_stop_wait(struct prof_trace *trace);

/* context: any; the result may be out of date when it returns */
bool prof_trace_is_on(const struct prof_trace *trace);

/* ---------------------------------------------------------------- record calls
 *
 * Readers of the file rely on these rules, which the caller must keep:
 *   - a task in a system call returns by prof_trace_sysexit() before its next
 *     PROF_EV_GO_START;
 *   - scans and sweeps end on the processor they began on, and before the world
 *     stops for a start;
 *   - PROF_EV_FUTILE_WAKEUP is traced only for a wake-up whose
 *     PROF_EV_GO_UNBLOCK is in the file.
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

/* A moment to trace later. All zero: never. */
struct prof_trace_stamp {
    uint64_t sequence; /* of the tracer; comparable across sessions */
    uint64_t ticks;    /* of the file */
};

/*
 * Note the moment at which a thread returns from a system call without a
 * processor. First emit the event that took its processor away
 * (PROF_EV_GO_SYSBLOCK); otherwise the file shows the return before the loss.
 *
 * returns: the stamp, all zero if tracing is off
 */
struct prof_trace_stamp prof_trace_stamp(struct prof_trace *trace);

/*
 * Trace that a task returned from a system call at the moment `left`. If that
 * was before this session, the event gets the current time, so that it is never
 * missing.
 *
 * context: as prof_trace_emit()
 */
void prof_trace_sysexit(struct prof_trace *trace, uint32_t proc, uint64_t task,
                        struct prof_trace_stamp left);

/* Hand over the buffer of a processor that will not run any more. */
void prof_trace_proc_free(struct prof_trace *trace, uint32_t proc);

/* Say which task runs timers; its wake-ups belong to no processor. Of several
 * calls before the session stops the last one counts; 0: no such task. */
void prof_trace_timer_task(struct prof_trace *trace, uint64_t task);

/* ---- reading ---- */

/*
 * Take the next bytes of the trace. Concatenated, they are the file.
 *
 * out:     *bytes, *bytes_count (> 0), the caller's until its next call
 * returns: PROF_OK; PROF_ERR_AGAIN if there is nothing yet (prof_trace_wait());
 *          PROF_ERR_END after the last bytes of a session, once; PROF_ERR_OFF
 *          if there is no session; PROF_ERR_BUSY if another reader is in this
 *          call or asleep
 * context: any thread, one at a time
 */
PROF_NODISCARD enum prof_status prof_trace_read(struct prof_trace *trace,
                                                const uint8_t **bytes,
                                                size_t *bytes_count);

/*
 * Sleep until prof_trace_read() would not return PROF_ERR_AGAIN.
 *
 * returns: PROF_OK, perhaps too early; PROF_ERR_BUSY if another reader is in
 *          this call or asleep
 * context: as prof_trace_read()
 */
PROF_NODISCARD enum prof_status prof_trace_wait(struct prof_trace *trace);

/* What was lost since the session began, by cause. If events are ordered by the
 * clock, the counts are complete only when the trace was read to its end. */
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
