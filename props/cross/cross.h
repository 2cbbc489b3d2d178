/*
 * cross.h -- compares the results of the instruments of one run with each other
 * (X1 to X6). The truth log plays no part.
 *
 *      block, mutex profile   <- X1 ->   the trace's waits
 *      heap profile, lines    <- X2 ->   the trace's HeapAlloc, NextGC, GCStart
 *      goroutine profile      <- X3 ->   the trace's tasks
 *      heap profile, lines <- X4 -> the tasks that run in the trace
 *      CPU profile <- X5 -> the tasks that run in the trace
 *      each <- X6 -> the same in a run without another one
 *
 * "Lines" are the debug lines that a runtime prints for each allocation, free
 * and collection. During a run, cross_event() keeps the results of the
 * instruments at the moments when a session of the trace begins or ends. At the
 * end of the run the session is read and compared with them.
 */
#ifndef PROPS_CROSS_CROSS_H
#define PROPS_CROSS_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "props/cover.h"
#include "props/cross/cross_lines.h"
#include "props/cross/cross_tasks.h"
#include "sim/instruments/instrument_trace.h"
#include "sim/world/locks.h"
#include "props/property.h"
#include "sim/world/world.h"

enum {
    CROSS_SITES_MAX = 64,    /* stacks of a contention profile */
    CROSS_READINGS_MAX = 32, /* of the goroutine profile, in a run */
    CROSS_SNAPSHOTS_MAX = 64 /* of the heap, in a run */
};

/* The sums of one stack of a contention profile. */
struct cross_site {
    const uintptr_t *stack;
    uint32_t depth;
    uint64_t count;
    uint64_t cycles;
};

struct cross_sites {
    bool usable; /* everything was recorded, and fits */
    uint32_t count;
    struct cross_site sites[CROSS_SITES_MAX];
};

/* A wait of a task, for a lock (as a profile is told) or for something else. */
struct cross_wait {
    uint8_t task;
    bool is_of_lock;
    bool is_of_mutex;
    bool block_on; /* the profiles were on when it began */
    bool mutex_on;
    uint32_t lock;
    uint32_t stack;      /* a stack of the world */
    int64_t began_ticks; /* by the clock of its processor */
};

/* The last hand-over of a mutex. */
struct cross_release {
    int64_t ticks;  /* by the clock of its processor */
    uint32_t begun; /* waits that had begun by then; 0: no hand-over */
};

/* A reading of the goroutine profile, and where in the trace it was made. */
struct cross_reading {
    uint32_t session;
    uint32_t gomaxprocs; /* such events in the session before it */
    uint32_t count;
    struct cross_listed {
        uint64_t id;
        const char *state;
        const uintptr_t *stack;
        uintptr_t start; /* if depth is 1 and stack NULL: the only frame */
        uint32_t depth;
    } listed[SIM_SCHEDULED_MAX];
};

/* How much had been reported at a moment of a session. */
struct cross_moment {
    uint32_t session;
    uint32_t lines;   /* debug lines of the run */
    uint32_t gc_done; /* GCDones of the session */
    bool is_marking;
};

/* A heap snapshot, and when it was made. */
struct cross_snapshot {
    struct cross_moment at;
    uint32_t controls; /* flushes and post-sweeps before it */
    uint64_t allocs;   /* sum over its records */
    uint64_t frees;
    uint32_t records_at; /* in cross.records */
    uint32_t records_count;
};

/* A flush or a post-sweep of the heap profile. */
struct cross_control {
    struct cross_moment at;
    enum sim_event_kind kind;
};

/* The event that a debug line came from. */
struct cross_origin {
    uint8_t kind; /* enum sim_event_kind */
    uint8_t proc;
};

struct cross_session {
    bool was_collecting; /* like the next fields: at its beginning */
    uint32_t lines_begin;
    uint32_t lines_end;
    uint32_t waits_begin;
    uint32_t waiting[SIM_SCHEDULED_MAX + 1]; /* the current wait of each task,
                                              * plus 1 */
    struct cross_release released[SIM_LOCKS_MAX];
    struct cross_sites begin[2]; /* by enum prof_contention */
    struct cross_sites end[2];   /* minus those of `begin` */
    bool has_cpu;                /* a whole CPU profile lies inside it */
    enum prof_status cpu_status; /* of writing it */
    uint8_t *cpu;                /* profile.proto, owned by the session */
    size_t cpu_bytes;
    size_t cpu_room;
    uint64_t cpu_hz;
    uint64_t cpu_lost;
    bool ended; /* all fields above are set */
};

struct cross {
    struct sim_world *world;
    struct props_coverage *cover;
    /* Note a breach; the first one's text is kept. */
    void (*breach)(void *context, enum props_property property,
                   const char *text);
    void *context;
    const uint32_t *order; /* of the trace's events, by sequence number */

    struct cross_session sessions[SIM_TRACE_SESSIONS_MAX];
    struct cross_reading readings[CROSS_READINGS_MAX];
    struct cross_snapshot snapshots[CROSS_SNAPSHOTS_MAX];
    uint32_t sessions_count;
    uint32_t readings_count;
    uint32_t snapshots_count;
    struct prof_heap_record *records; /* of all snapshots; owned: */
    uint32_t records_count;
    uint32_t records_room;
    struct cross_control *controls;
    uint32_t controls_count;
    uint32_t controls_room;
    struct cross_origin *origins; /* of lines */
    uint32_t origins_count;
    uint32_t origins_room;
    struct cross_wait *waits;
    uint32_t waits_count;
    uint32_t waits_room;
    bool is_short;       /* memory for these ran out */
    uint32_t gomaxprocs; /* such events in the current session */
    uint32_t gc_done;
    uint32_t cpu_begins;  /* CPU profiles begun so far */
    uint32_t cpu_session; /* session of the last one, + 1; 0: none */
    bool tracing;
    bool numbers_are_made_up;   /* a HeapAlloc came from no allocation */
    uint32_t on[SIM_PROCS_MAX]; /* the task on each processor */
    uint32_t last[SIM_SCHEDULED_MAX + 1]; /* the last wait of each task, plus
                                           * 1 */
    struct cross_release released[SIM_LOCKS_MAX];
    bool unsteady;            /* a clock was moved or stopped */
    bool flushed;             /* the current cycle has been flushed */
    bool unflushed;           /* a cycle followed one not flushed */
    bool heap_rated;          /* not every allocation was recorded */
    bool compared_published;  /* cross_published() was called */
    struct cross_tasks tasks; /* of the current trace */
    struct cross_lines lines; /* of the run */
};

/* in: cross, all zero except for its first five fields, or in use */
void cross_release(struct cross *cross);

/* Begin a run. */
void cross_begin(struct cross *cross);

/* Follow an event that the world has applied. */
void cross_event(struct cross *cross, const struct sim_event *event);

/*
 * Compare a session that was read completely, and accepted.
 *
 * in:      session, its index; trace, decoded; cross->order is that of its
 *          events
 */
void cross_session(struct cross *cross, uint32_t session,
                   const struct model_trace *trace);

/* Note a breach. in: format and what follows, as for printf */
void cross_breach(struct cross *cross, enum props_property property,
                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* returns: does the run have all of these instruments (bits)? */
bool cross_carries(const struct cross *cross, uint32_t instruments);

/*
 * Does an instrument show the stack that the trace shows? Each instrument cuts
 * stacks at its own limit.
 */
bool cross_same_stack(const struct cross *cross,
                      const struct model_trace *trace, uint64_t id,
                      const uintptr_t *stack, uint32_t depth);

/* Keep results and inputs of instruments at this moment (cross_keep.c). */
void cross_keep_tasks(struct cross *cross);    /* the goroutine profile */
void cross_keep_snapshot(struct cross *cross); /* of the heap */
void cross_keep_cpu(struct cross *cross);      /* if it is complete */
void cross_keep_control(struct cross *cross, enum sim_event_kind kind);
void cross_keep_waits(struct cross *cross, const struct sim_event *event);
void cross_keep_origins(struct cross *cross, const struct sim_event *event);

/* returns: how many lines of allocations, frees and collections there are so
 * far */
uint32_t cross_lines_so_far(const struct cross *cross);

/* The comparisons of a session, each in its own file. */
void cross_waits(struct cross *cross, const struct cross_session *session,
                 const struct model_trace *trace); /* X1 */
void cross_heap(struct cross *cross, uint32_t session,
                const struct model_trace *trace); /* X2, X4 */

/*
 * Compare a snapshot with the lines of allocations.
 *
 * in:      allocs_before, how many allocations the lines have before each of
 * the last three GCDone of the trace, the last one first; 0: no such GCDone
 */
void cross_snapshot(struct cross *cross, const struct cross_snapshot *snapshot,
                    const uint64_t allocs_before[3]);

/* Compare all that the heap profile has published with the lines of the whole
 * run. Once is enough: other sessions would give the same result. */
void cross_published(struct cross *cross);

void cross_goroutines(struct cross *cross, uint32_t session,
                      const struct model_trace *trace); /* X3 */
void cross_cpu(struct cross *cross, const struct cross_session *session,
               const struct model_trace *trace); /* X5 */

#endif
