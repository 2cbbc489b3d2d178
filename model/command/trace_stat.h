/*
 * trace_stat.h -- how the time of an accepted trace was spent.
 *
 * From its creation to its end (or the end of the trace) a goroutine is always
 * in exactly one of four spans, so their times add up to its lifetime:
 *
 *      run         on a processor; system calls that do not block count here
 *      block       waits for a channel, a lock, the network, a timer
 *      sched-wait  could run, but no processor has taken it yet
 *      syscall     in a system call that lost its processor
 */
#ifndef MODEL_COMMAND_TRACE_STAT_H
#define MODEL_COMMAND_TRACE_STAT_H

#include <stdint.h>
#include <stdio.h>

#include "model/trace/trace_reader.h"

enum model_trace_span {
    MODEL_TRACE_RUN,
    MODEL_TRACE_BLOCK,
    MODEL_TRACE_SCHED_WAIT,
    MODEL_TRACE_SYSCALL,
    MODEL_TRACE_SPAN_COUNT, /* also: in none of them */
};

struct model_trace_task {
    uint64_t g;
    uint64_t events; /* of this goroutine */
    uint64_t lifetime_ticks;
    uint64_t span_ticks[MODEL_TRACE_SPAN_COUNT];
};

/* The time during which something went on; what still goes on at the end of the
 * trace ends there. */
struct model_trace_phase {
    uint64_t count;
    uint64_t ticks;
};

struct model_trace_stat {
    uint64_t events_by_type[MODEL_TRACE_TYPE_COUNT];
    struct model_trace_task *tasks; /* by g, ascending; g 0 is not a task */
    uint32_t tasks_count;
    uint64_t span_ticks;            /* first to last event */
    struct model_trace_phase gc;    /* collections */
    struct model_trace_phase scan;  /* summed over processors */
    struct model_trace_phase sweep; /* same */
};

/*
 * Add up an accepted trace.
 *
 * out:     *stat, to be released if true is returned
 * in:      trace, with the verdict ok
 * returns: false without memory
 */
bool model_trace_stat_make(struct model_trace_stat *stat,
                           const struct model_trace *trace);

void model_trace_stat_release(struct model_trace_stat *stat);

/* Write it as text; times in nanoseconds, rounded down. */
void model_trace_stat_print(const struct model_trace_stat *stat,
                            const struct model_trace *trace, FILE *to);

#endif
