/* world_tracer.h -- the state of the tracer's instrument, for its two files. */
#ifndef SIM_INSTRUMENTS_WORLD_TRACER_H
#define SIM_INSTRUMENTS_WORLD_TRACER_H

#include "sim/instruments/instrument_trace.h"

struct tracer {
    struct sim_instrument base;
    const struct sim_world *world;
    void *block;
    size_t block_bytes;
    struct prof_trace *trace;
    uint64_t clock_ticks; /* what the current clock reads */
    struct sim_session sessions[SIM_TRACE_SESSIONS_MAX];
    uint32_t sessions_count;
    struct sim_trace_answers answers;
    const uint8_t *borrowed; /* by the tracer, not copied yet */
    size_t borrowed_bytes;
    uint32_t announced; /* tasks named to the tracer at its start */
    bool traces;
    bool controlled;                       /* by the current event */
    bool owes_exit[SIM_SCHEDULED_MAX + 1]; /* the trace thinks that the task
                                              is in a system call */
    struct prof_trace_stamp left[SIM_SCHEDULED_MAX + 1];
};

/* Start or stop the tracer on a processor, even if it is already on or off, and
 * check the result. */
void sim_tracer_start(struct tracer *tracer, uint32_t proc);
void sim_tracer_stop(struct tracer *tracer, uint32_t proc, uint32_t stack);
void sim_tracer_start_in_vain(struct tracer *tracer, uint32_t proc);
void sim_tracer_stop_in_vain(struct tracer *tracer, uint32_t proc,
                             uint32_t stack);

/* The reader takes up to `chunks`, 0: all there are. */
void sim_tracer_take(struct tracer *tracer, struct sim_world *world,
                     uint64_t chunks, uint32_t clock_proc);

#endif
