/*
 * sched_world.h -- a world of processors and tasks that is traced: the
 * scheduler of a runtime, event by event, with one tracer of the production
 * library that it reports to, and one reader.
 *
 * As world.h: it makes no choices and keeps no opinion. It does what the event
 * says, calls the tracer as a runtime would, writes the truth log, and keeps
 * what the reader got for whoever judges.
 */
#ifndef SIM_SCHED_WORLD_H
#define SIM_SCHED_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "prof/trace.h"
#include "truth/step.h"

enum {
    SIM_SCHED_PROCS_MAX = 8,
    SIM_SCHED_TASKS_MAX = 24, /* of a run; numbers are not used again */
    SIM_SCHED_SESSIONS_MAX = 6,
    SIM_SCHED_CHUNKS_MAX = 2048, /* of a session */
    SIM_SCHED_STEPS_MAX = 4096,
    SIM_SCHED_READINGS_MAX = 128, /* of the clock, for one step of the truth */
    SIM_SCHED_BUFFERS_MAX = 128,
    SIM_SCHED_BUFFER_BYTES_MAX = 4096,
    SIM_SCHED_STACKS_MAX = 256,
    SIM_SCHED_SPAN_BITS = 42, /* world time is below 2 to that */
};

/* What a clock without offset reads at the beginning: in a file, tick 0 of a
 * syscall exit means that nobody knows. */
#define SIM_SCHED_FIRST_TICK (UINT64_C(1) << 20)

enum sim_sched_kind {
#define X(id, word, arguments) id,
#include "sched_event.def"
#undef X
    SIM_SCHED_KIND_COUNT
};

struct sim_sched_event {
    enum sim_sched_kind kind;
    uint32_t proc;        /* for those without one: whose clock it is */
    uint64_t delay_ticks; /* world time since the event before */
    uint64_t task;        /* from 1, in the order of creation */
    uint32_t stack;       /* index into the world's stacks */
    uint64_t number;
};

/* returns: the word and the arguments of sched_event.def, never NULL */
const char *sim_sched_word(enum sim_sched_kind kind);
const char *sim_sched_arguments(enum sim_sched_kind kind);

/* The fixed part of a world. All of it can be written in a schedule file. */
struct sim_sched_config {
    uint32_t procs; /* at the beginning */
    uint32_t buffers;
    uint32_t buffer_bytes;
    uint32_t tick_divisor;
    uint32_t stacks_room;  /* distinct stacks a session keeps */
    uint64_t ticks_per_us; /* world time in a microsecond */
    bool is_by_clock;      /* the tracer's order; then all clocks are one */
    bool is_eager;         /* the reader reads after every event */
    bool has_two_readers;  /* whoever judges tries two readers */
    struct sim_clock clocks[SIM_SCHED_PROCS_MAX];
    const struct truth_stack *stacks; /* borrowed while the world is used */
    uint32_t stacks_count;
};

/* What the reader got of one session. */
struct sim_sched_session {
    uint8_t *bytes;
    size_t bytes_count;
    size_t bytes_room;
    uint32_t chunk_ends[SIM_SCHED_CHUNKS_MAX];
    uint32_t chunks;
    uint32_t chunks_on; /* when tracing stopped */
    bool has_ended;     /* the tracer said that there is nothing more */
    struct prof_trace_drops drops;
};

/* How often the tracer answered what. */
struct sim_sched_answers {
    uint32_t starts_refused_on;   /* while tracing was on: it must be */
    uint32_t starts_refused_read; /* while a trace was unread: it must be */
    uint32_t stops_refused;       /* while it was off: it must be */
    uint32_t wrong_controls;      /* answers to those that must not be */
    uint32_t wrong_reads;         /* same, to reads */
    char wrong_text[128];         /* the first of them */
    enum prof_status last_read;
};

enum sim_task_state {
    SIM_TASK_RUNNABLE,
    SIM_TASK_RUNNING,
    SIM_TASK_WAITING,
    SIM_TASK_SYSCALL, /* in a system call, on its processor */
    SIM_TASK_AWAY,    /* in a system call, without a processor */
    SIM_TASK_LEFT,    /* out of it, nobody knows yet */
    SIM_TASK_QUEUED,  /* out of it, waits for a processor */
    SIM_TASK_DEAD
};

struct sim_sched_task {
    enum sim_task_state state;
    uint32_t stack;            /* where it was created */
    uint32_t proc;             /* RUNNING, SYSCALL */
    enum sim_sched_kind waits; /* how it waited last */
    bool was_woken;            /* and has done nothing since */
    bool owes_exit;            /* the trace thinks it is in a system call */
    struct prof_trace_stamp left;
};

struct sim_sched_proc {
    bool exists; /* below the number of processors */
    bool has_thread;
    bool scans;
    bool sweeps;
    bool stalls;   /* stands still: nothing happens on it */
    uint64_t task; /* 0: none */

    uint64_t moved_ticks;  /* by jumps of its clock, modulo 2^64 */
    uint64_t lost_ticks;   /* while its clock was frozen, but for the last */
    uint64_t frozen_ticks; /* world time when the last freeze began */
    uint64_t thaws_ticks;  /* and when it ends */
};

struct sim_sched_world;

/* returns: an empty world, NULL if there is not enough memory */
struct sim_sched_world *sim_sched_world_new(void);
void sim_sched_world_delete(struct sim_sched_world *world);

/*
 * Begin a run: forget everything, start a new tracer.
 *
 * returns: NULL, or why the configuration is wrong (static text)
 */
const char *sim_sched_world_reset(struct sim_sched_world *world,
                                  const struct sim_sched_config *config);

/*
 * Let one event happen.
 *
 * returns: NULL, or why it cannot happen now (static text); then nothing has
 *          changed
 */
const char *sim_sched_world_apply(struct sim_sched_world *world,
                                  const struct sim_sched_event *event);

const struct sim_sched_config *
sim_sched_world_config(const struct sim_sched_world *world);
const struct truth_steps *
sim_sched_world_truth(const struct sim_sched_world *world);
const struct sim_sched_answers *
sim_sched_world_answers(const struct sim_sched_world *world);
bool sim_sched_world_traces(const struct sim_sched_world *world);
bool sim_sched_world_collects(const struct sim_sched_world *world);

/* returns: does the reader stand still; does any processor? */
bool sim_sched_world_reader_stalls(const struct sim_sched_world *world);
bool sim_sched_world_stalls(const struct sim_sched_world *world);

/* returns: is a trace not read to its end? */
bool sim_sched_world_is_unread(const struct sim_sched_world *world);

/* returns: sessions begun so far */
uint32_t sim_sched_world_sessions(const struct sim_sched_world *world);
const struct sim_sched_session *
sim_sched_world_session(const struct sim_sched_world *world, uint32_t index);

/* returns: processors that exist; they are the first */
uint32_t sim_sched_world_procs(const struct sim_sched_world *world);
const struct sim_sched_proc *
sim_sched_world_proc(const struct sim_sched_world *world, uint32_t proc);

/* returns: tasks born so far; their numbers are 1 .. that */
uint32_t sim_sched_world_tasks(const struct sim_sched_world *world);
const struct sim_sched_task *
sim_sched_world_task(const struct sim_sched_world *world, uint64_t task);

#endif
