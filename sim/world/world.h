/*
 * world.h -- a world: tasks on processors, heap objects, locks, a collector,
 * virtual clocks, and the instruments that watch them (instrument.h).
 *
 * Events (event.h) drive a world, one at a time, each to completion. A world
 * makes no choices and does not judge: it does what the event says, states the
 * facts in the truth log, and tells them to the instruments of the run. They
 * call the library as a runtime would, and keep what it returned for the judge.
 *
 * There are two kinds of tasks. In worlds without a scheduler, task t always
 * runs on processor t mod procs. Where processors take tasks
 * (config.scheduled), a task is created, runs, waits, enters system calls and
 * ends, and acts on the processor that it runs on; tasks are numbered from 1,
 * and 0 means none.
 */
#ifndef SIM_WORLD_WORLD_H
#define SIM_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/world/clock.h"
#include "sim/world/event.h"
#include "sim/world/instrument.h"
#include "prof/prof.h"
#include "sim/truth/truth.h"

enum {
    SIM_PROCS_MAX = 8,
    SIM_TASKS_MAX = 1024,
    SIM_SCHEDULED_MAX = 24, /* tasks that processors take, in a run */
    SIM_READINGS_MAX = 128, /* of the clock that orders, for one fact */
    SIM_SCHEDULED_TRUTHS =
        4096 /* entries for facts about them, in addition to others */
};

/* How a world is traced; for the instrument `trace`. */
struct sim_trace_config {
    uint32_t buffers;
    uint32_t buffer_bytes;
    uint32_t tick_divisor;
    uint32_t stacks_room;  /* distinct stacks a session keeps */
    uint64_t ticks_per_us; /* world time in a microsecond */
    bool by_clock;    /* the trace is ordered by clock; all processors share one
                         clock */
    bool eager;       /* the reader reads after every event */
    bool two_readers; /* the judge tries two readers */
};

/* The fixed part of a world. All of it can be written in a scenario file. */
struct sim_config {
    const struct prof_rules *rules;
    enum prof_hash hash;
    uint32_t buckets_max;
    uint32_t depth_max;
    uint64_t frames_max;
    uint32_t cycle_first;
    uint32_t procs; /* at the beginning */
    struct sim_clock clocks[SIM_PROCS_MAX];
    const struct truth_stack *stacks; /* borrowed while the world is used */
    uint32_t stacks_count;
    uint64_t seed;    /* of the library's random numbers */
    bool waiters_all; /* a release is charged with the waits of all waiters */
    bool scheduled;   /* processors take tasks */
    uint32_t instruments;          /* a bit each */
    const struct subject *subject; /* judged instead of ours; borrowed */
    struct sim_trace_config trace;
};

/* The state of an object. */
enum sim_object_state {
    SIM_UNBORN,
    SIM_LIVE,    /* a task refers to it */
    SIM_DROPPED, /* nothing refers to it */
    SIM_DOOMED,  /* dropped before the current marking began */
    SIM_DEAD,    /* found dead, not swept yet */
    SIM_GONE     /* swept or freed */
};

struct sim_object {
    enum sim_object_state state;
    uint32_t task;
    uint64_t size_bytes;
};

struct sim_gc {
    bool marking;
    bool unflushed;   /* terminated, the flush is still to come */
    bool post_swept;  /* since the last termination */
    uint32_t dead;    /* objects found dead and not swept */
    uint32_t doomed;  /* objects that the current marking will find dead */
    uint32_t dropped; /* unreachable objects that the next marking will find */
    uint32_t cycles;  /* terminations so far */
};

enum sim_task_state {
    SIM_TASK_RUNNABLE,
    SIM_TASK_RUNNING,
    SIM_TASK_WAITING,
    SIM_TASK_SYSCALL, /* in a system call, on its processor */
    SIM_TASK_AWAY,    /* in a system call, without a processor */
    SIM_TASK_LEFT,    /* back from the system call, not noticed yet */
    SIM_TASK_QUEUED,  /* back from the system call, waits for a processor */
    SIM_TASK_STOPPED, /* it waits for ever */
    SIM_TASK_DEAD
};

/* A task that processors take. */
struct sim_task {
    enum sim_task_state state;
    uint32_t created;          /* the stack that created it */
    uint32_t stack;            /* where it was at its last event */
    uint32_t proc;             /* RUNNING, SYSCALL */
    enum sim_event_kind waits; /* how it waited last */
    bool waits_for_lock;       /* only the lock's holder can wake it */
    bool was_woken;            /* since it last did something */
    bool is_system;            /* the runtime's own */
    bool has_run;
    uint64_t pc;       /* its first */
    uint64_t since_ns; /* when it came to wait, or lost its processor */
};

/* A processor that takes tasks. */
struct sim_proc {
    bool exists; /* its number is below that of processors */
    bool has_thread;
    bool scans;
    bool sweeps;
    uint32_t task; /* 0: none */
};

/* The first pc of a task. A task that no other task created, except the first,
 * is a system task of the runtime; its code lies elsewhere. */
#define SIM_TASK_PC(id)      (UINT64_C(0x400000) + 16 * (uint64_t)(id))
#define SIM_SYSTEM_PC(id)    (UINT64_C(0x800000) + 16 * (uint64_t)(id))
#define SIM_IS_SYSTEM_PC(pc) ((pc) >= SIM_SYSTEM_PC(0))

/* What the library returned for the last event, if that was a reading. */
struct sim_answer {
    enum sim_event_kind kind; /* SIM_EV_COUNT: no profile was read */
    enum prof_status status;
    size_t count;
    struct prof_heap_record *heap;
    struct prof_contention_record *contention;
    bool is_too_long; /* the library listed more records than fit */
    /* Memory that the library must not have written: guard bytes (guard.h). */
    const void *beyond;
    size_t beyond_bytes;
};

struct sim_world;
struct sim_locks;

/* Limits of a world; all its memory is allocated once. */
struct sim_limits {
    uint32_t events_max;
    uint32_t objects_max;
    uint32_t buckets_max; /* largest config.buckets_max */
    uint64_t frames_max;  /* largest config.frames_max */
    uint32_t instruments; /* that it may carry; 0: SIM_PROFILES */
    bool unlogged; /* keeps no truth log: nothing judges this world, only its
                      heap snapshots are read */
};

/*
 * returns: the most entries that the truth log may get. An event states one
 *          fact, a stopped sweep four; dropping an object, finding it dead and
 *          sweeping it are separate events. That is less than four times the
 *          events. The end of a run adds three collections of four facts each,
 *          the rest of an earlier collection and a snapshot; and, where there
 *          may be a trace, stops of the world.
 */
uint32_t sim_limits_truths(const struct sim_limits *limits);

/* returns: an empty world, NULL if there is not enough memory */
struct sim_world *sim_world_new(const struct sim_limits *limits);
void sim_world_delete(struct sim_world *world);

/*
 * Begin a run: forget everything, start a new library instance.
 *
 * returns: NULL, or why the configuration is wrong (static text)
 */
const char *sim_world_reset(struct sim_world *world,
                            const struct sim_config *config);

/*
 * Let one event happen.
 *
 * returns: NULL, or why it cannot happen now (static text); then nothing has
 *          changed
 */
const char *sim_world_apply(struct sim_world *world,
                            const struct sim_event *event);

/* returns: the library's profiles; NULL if the run carries none */
struct prof *sim_world_prof(const struct sim_world *world);
const struct truth_log *sim_world_truth(const struct sim_world *world);
const struct sim_config *sim_world_config(const struct sim_world *world);
const struct sim_gc *sim_world_gc(const struct sim_world *world);
const struct sim_answer *sim_world_answer(const struct sim_world *world);
uint64_t sim_world_now_ticks(const struct sim_world *world);

/* returns: objects allocated so far; their numbers are below objects_max */
uint32_t sim_world_objects_count(const struct sim_world *world);
const struct sim_object *sim_world_object(const struct sim_world *world,
                                          uint32_t object);

/* returns: which tasks hold what, and which wait for it (locks.h) */
const struct sim_locks *sim_world_locks(const struct sim_world *world);

/* returns: whether the task waits in a queue; whether it holds a mutex */
bool sim_world_task_waits(const struct sim_world *world, uint32_t task);
bool sim_world_task_holds(const struct sim_world *world, uint32_t task,
                          uint32_t lock, bool shares);

/* returns: whether the processor is stalled (event `stall`); whether any is */
bool sim_world_stalls(const struct sim_world *world, uint32_t proc);
bool sim_world_stalls_anywhere(const struct sim_world *world);

/* returns: world time until all stalls that end by themselves are over; 0 if
 *          there are none */
uint64_t sim_world_stall_ticks(const struct sim_world *world);

/* returns: what a processor's clock reads now */
int64_t sim_world_clock(const struct sim_world *world, uint32_t proc);

/* returns: the system's clock, in ns; only for worlds that may be traced */
uint64_t sim_world_now_ns(const struct sim_world *world);

/* returns: the number of processors; they are numbered from 0 */
uint32_t sim_world_procs(const struct sim_world *world);
const struct sim_proc *sim_world_proc(const struct sim_world *world,
                                      uint32_t proc);

/* returns: tasks created so far, where processors take tasks; numbered from
 * 1 */
uint32_t sim_world_tasks(const struct sim_world *world);
const struct sim_task *sim_world_task(const struct sim_world *world,
                                      uint32_t task);

/* returns: a short text, what a task without a processor does; NULL if it has a
 *          processor, or no longer exists */
const char *sim_task_text(const struct sim_task *task);

/* returns: threads named so far */
uint32_t sim_world_threads(const struct sim_world *world);

/* returns: whether a task runs on the processor, outside system calls; whether
 *          the processor is free, so that the scheduler itself runs there */
bool sim_world_runs(const struct sim_world *world, uint32_t proc);
bool sim_world_is_free(const struct sim_world *world, uint32_t proc);

/* returns: whether tracing is requested; whether a trace is not yet read to its
 *          end; whether the reader is stalled */
bool sim_world_traces(const struct sim_world *world);
bool sim_world_is_unread(const struct sim_world *world);
bool sim_world_reader_stalls(const struct sim_world *world);

/*
 * Find an object in a state.
 *
 * in:      from, the first number to look at
 * returns: its number, sim_world_objects_count() if there is none
 */
uint32_t sim_world_find(const struct sim_world *world,
                        enum sim_object_state state, uint32_t from);

#endif
