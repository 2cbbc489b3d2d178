/* instrument_trace.h -- the tracer, and its reader, as an instrument. */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_TRACE_H
#define SIM_INSTRUMENTS_INSTRUMENT_TRACE_H

#include "prof/trace.h"
#include "sim/world/world.h"

enum {
    SIM_TRACE_SESSIONS_MAX = 6,
    SIM_TRACE_CHUNKS_MAX = 2048, /* of a session */
    SIM_TRACE_BUFFERS_MAX = 128,
    SIM_TRACE_BUFFER_BYTES_MAX = 4096,
    SIM_TRACE_STACKS_MAX = 256,
};

/* What the reader got of one session. */
struct sim_session {
    uint8_t *bytes;
    size_t bytes_count;
    size_t bytes_room;
    uint32_t chunk_ends[SIM_TRACE_CHUNKS_MAX];
    uint32_t chunks;
    uint32_t chunks_on; /* when tracing stopped */
    bool has_ended;     /* the tracer reported the end */
    struct prof_trace_drops drops;
};

/* What the tracer returned, and how often. */
struct sim_trace_answers {
    uint32_t starts_refused_on;   /* because tracing was on: right */
    uint32_t starts_refused_read; /* because a trace was unread: right */
    uint32_t stops_refused;       /* because tracing was off: right */
    uint32_t wrong_controls;      /* wrong results of starts and stops */
    uint32_t wrong_reads;         /* wrong results of reads */
    char wrong_text[128];         /* the first of them */
    enum prof_status last_read;
};

const struct sim_trace_answers *
sim_trace_answers(const struct sim_world *world);

/* returns: sessions begun so far */
uint32_t sim_sessions(const struct sim_world *world);
struct sim_session *sim_session(const struct sim_world *world, uint32_t index);

#endif
