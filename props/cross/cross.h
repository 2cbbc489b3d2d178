/*
 * cross.h -- compares the results of the instruments of one run with each other
 * (X1 to X6). The truth log plays no part.
 *
 *      block, mutex profile   <- X1 ->   the trace's waits
 *      heap profile, lines    <- X2 ->   the trace's HeapAlloc, NextGC, GCStart
 *      goroutine profile      <- X3 ->   the trace's tasks
 *      heap profile, lines    <- X4 ->   who runs, by the trace
 *      CPU profile            <- X5 ->   who runs, by the trace
 *      each                   <- X6 ->   the same without one of the others
 *
 * "Lines" are the debug lines that a runtime prints for each allocation, free
 * and collection. During a run, cross_event() keeps the results of the
 * instruments at the moments when a session of the trace begins or ends. At the
 * end of the run the session is read and compared with them.
 */
#ifndef PROPS_CROSS_H
#define PROPS_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "cover.h"
#include "cross_lines.h"
#include "cross_tasks.h"
#include "instrument_trace.h"
#include "locks.h"
#include "property.h"
#include "world.h"

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
    bool usable; /* everything was recorded, and fits here */
    uint32_t count;
    struct cross_site sites[CROSS_SITES_MAX];
};

/* A wait of a task: for a lock, as reported to a profile, or for something
 * else. */
struct cross_wait {
    uint8_t task;
    bool is_of_lock;
    bool is_of_mutex;
    bool block_on; /* the profiles were, when it began */
    bool mutex_on;
    uint32_t lock;
    uint32_t stack;      /* of the world */
    int64_t began_ticks; /* by the clock of its processor */
};

/* The last time that a mutex was handed over. */
struct cross_release {
    int64_t ticks;  /* by the clock of who did it */
    uint32_t begun; /* waits of the run begun by then; 0: it never was */
};

/* A reading of the goroutine profile, and where in the trace it was made. */
struct cross_reading {
    uint32_t session;
    uint32_t gomaxprocs; /* events of that kind in the session before it */
    uint32_t count;
    struct cross_listed {
        uint64_t id;
        const char *state;
        const uintptr_t *stack;
        uintptr_t start; /* if depth is 1 and stack NULL: the only frame */
        uint32_t depth;
    } listed[SIM_SCHEDULED_MAX];
};

/* A moment of a session: what had been reported by then. */
struct cross_moment {
    uint32_t session;
    uint32_t lines;   /* of the run */
    uint32_t gc_done; /* of the session */
    bool is_marking;
};

/* A heap snapshot, and when it was made. */
struct cross_snapshot {
    struct cross_moment at;
    uint32_t controls; /* flushes and post-sweeps of the run before it */
    uint64_t allocs;   /* of all its records */
    uint64_t frees;
    uint32_t records_at; /* in cross.records */
    uint32_t records_count;
};

/* A flush or a post-sweep of the heap profile. */
struct cross_control {
    struct cross_moment at;
    enum sim_event_kind kind;
};

/* What a line of the run came from. */
struct cross_origin {
    uint8_t kind; /* enum sim_event_kind */
    uint8_t proc;
};

struct cross_session {
    bool was_collecting; /* when it began, as was what follows */
    uint32_t lines_begin;
    uint32_t lines_end;
    uint32_t waits_begin;
    uint32_t waiting[SIM_SCHEDULED_MAX + 1]; /* the wait of each task + 1 */
    struct cross_release released[SIM_LOCKS_MAX];
    struct cross_sites begin[2]; /* by enum prof_contention */
    struct cross_sites end[2];   /* less those */
    bool has_cpu;                /* a CPU profile was taken inside it */
    enum prof_status cpu_status; /* of writing it */
    uint8_t *cpu;                /* profile.proto; its own */
    size_t cpu_bytes;
    size_t cpu_room;
    uint64_t cpu_hz;
    uint64_t cpu_lost;
    bool ended; /* all of the above is there */
};

struct cross {
    struct sim_world *world;
    struct props_coverage *cover;
    /* Note a breach; the first one's text is kept. */
    void (*breach)(void *context, enum props_property property,
                   const char *text);
    void *context;
    const uint32_t *order; /* of a trace's events, by sequence */

    struct cross_session sessions[SIM_TRACE_SESSIONS_MAX];
    struct cross_reading readings[CROSS_READINGS_MAX];
    struct cross_snapshot snapshots[CROSS_SNAPSHOTS_MAX];
    uint32_t sessions_count;
    uint32_t readings_count;
    uint32_t snapshots_count;
    struct prof_heap_record *records; /* of all snapshots; its own, too: */
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
    bool is_short;       /* there was not enough memory for all of these */
    uint32_t gomaxprocs; /* events of the session at hand */
    uint32_t gc_done;
    uint32_t cpu_begins;  /* CPU profiles begun so far */
    uint32_t cpu_session; /* in which the last one began, + 1; 0: none */
    bool tracing;
    bool numbers_are_made_up;   /* a HeapAlloc that no allocation made */
    uint32_t on[SIM_PROCS_MAX]; /* the task there */
    uint32_t last[SIM_SCHEDULED_MAX + 1]; /* wait of each task + 1 */
    struct cross_release released[SIM_LOCKS_MAX];
    bool unsteady;            /* a clock was moved or stopped */
    bool flushed;             /* the heap's cycle at hand */
    bool unflushed;           /* a cycle began without the flush before */
    bool heap_rated;          /* not every allocation was recorded */
    bool compared_published;  /* cross_published() was called */
    struct cross_tasks tasks; /* of the trace at hand */
    struct cross_lines lines; /* of the run */
};

/* in: cross, zero but for its first five fields, or used */
void cross_release(struct cross *cross);

/* A run begins. */
void cross_begin(struct cross *cross);

/* The world has applied an event. */
void cross_event(struct cross *cross, const struct sim_event *event);

/*
 * A session has been read to its end, whole, and accepted.
 *
 * in:      session, its index; trace, decoded; cross->order is that of its
 *          events
 */
void cross_session(struct cross *cross, uint32_t session,
                   const struct model_trace *trace);

/* Note a breach; printf's rules. */
void cross_breach(struct cross *cross, enum props_property property,
                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* returns: does the run carry all of these (bits of instruments)? */
bool cross_carries(const struct cross *cross, uint32_t instruments);

/*
 * Is a stack of an instrument the one that the trace shows? Each instrument
 * cuts stacks at its own limit.
 */
bool cross_same_stack(const struct cross *cross,
                      const struct model_trace *trace, uint64_t id,
                      const uintptr_t *stack, uint32_t depth);

/* Keep what instruments say, or are told, at this moment (cross_keep.c). */
void cross_keep_tasks(struct cross *cross);    /* the goroutine profile */
void cross_keep_snapshot(struct cross *cross); /* of the heap */
void cross_keep_cpu(struct cross *cross);      /* profile, if it is whole */
void cross_keep_control(struct cross *cross, enum sim_event_kind kind);
void cross_keep_waits(struct cross *cross, const struct sim_event *event);
void cross_keep_origins(struct cross *cross, const struct sim_event *event);

/* returns: lines of allocations, frees and collections so far */
uint32_t cross_lines_so_far(const struct cross *cross);

/* The checks of a session, each in its file. */
void cross_waits(struct cross *cross, const struct cross_session *session,
                 const struct model_trace *trace); /* X1 */
void cross_heap(struct cross *cross, uint32_t session,
                const struct model_trace *trace); /* X2, X4 */

/*
 * Compare a snapshot with the lines of allocations.
 *
 * in:      allocs_before, how many allocations the lines have before each of
 * the last three GCDone of the trace, the last one first; 0: no GCDone
 */
void cross_snapshot(struct cross *cross, const struct cross_snapshot *snapshot,
                    const uint64_t allocs_before[3]);

/* What the heap profile has published, compared with the lines of the whole
 * run. One session is enough, since the others would give the same. */
void cross_published(struct cross *cross);

void cross_goroutines(struct cross *cross, uint32_t session,
                      const struct model_trace *trace); /* X3 */
void cross_cpu(struct cross *cross, const struct cross_session *session,
               const struct model_trace *trace); /* X5 */

#endif
