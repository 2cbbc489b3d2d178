/*
 * world.h -- a world: tasks on processors, heap objects, a collector, and one
 * instance of the production library that all of them report to.
 *
 * A world is driven by events (event.h), one at a time, each to completion
 * (level 1). It makes no choices and keeps no opinion on what is right: it does
 * what the event says, calls the library as a runtime would, writes the truth
 * log, and keeps what the library answered last for whoever judges.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "event.h"
#include "prof/prof.h"
#include "truth/truth.h"

enum {
    SIM_PROCS_MAX = 8,
    SIM_TASKS_MAX = 1024,
};

/* The fixed part of a world. All of it can be written in a scenario file. */
struct sim_config {
    const struct prof_rules *rules;
    enum prof_hash hash;
    uint32_t buckets_max;
    uint32_t depth_max;
    uint64_t frames_max;
    uint32_t cycle_first;
    uint32_t procs;
    struct sim_clock clocks[SIM_PROCS_MAX];
    const struct truth_stack *stacks; /* borrowed while the world is used */
    uint32_t stacks_count;
    uint64_t seed;    /* of the library's random numbers */
    bool waiters_all; /* a release is charged for all who wait */
};

/* Where an object is in its life. */
enum sim_object_state {
    SIM_UNBORN,
    SIM_LIVE,    /* a task refers to it */
    SIM_DROPPED, /* nothing refers to it */
    SIM_DOOMED,  /* dropped before the marking that runs now */
    SIM_DEAD,    /* found dead, not swept yet */
    SIM_GONE     /* swept or freed */
};

struct sim_object {
    enum sim_object_state state;
    uint32_t task;
    prof_bucket bucket;
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

/* What the library answered to the event before, if it was a reading one. */
struct sim_answer {
    enum sim_event_kind kind; /* SIM_EV_COUNT: it was not a reading one */
    enum prof_status status;
    size_t count;
    struct prof_heap_record *heap;
    struct prof_contention_record *contention;
    bool touched_beyond; /* the library wrote past what it said it wrote */
};

struct sim_world;
struct sim_locks;

/* How large a world may become; all memory is taken once. */
struct sim_limits {
    uint32_t events_max;
    uint32_t objects_max;
    uint32_t buckets_max; /* largest config.buckets_max */
    uint64_t frames_max;  /* largest config.frames_max */
    bool unlogged;        /* it keeps no truth log: nobody judges it, and all
                             that is looked at are its heap snapshots */
};

/*
 * returns: entries that the truth log may come to. Every event but a stopped
 *          sweep states one fact of its own, that one four, and an object is
 *          dropped, found dead and swept by events of others; which is below
 *          four times the events. The rest is for the end of a run: three
 *          collections of four facts, what is left of one before, a snapshot.
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

struct prof *sim_world_prof(struct sim_world *world);
const struct truth_log *sim_world_truth(const struct sim_world *world);
const struct sim_config *sim_world_config(const struct sim_world *world);
const struct sim_gc *sim_world_gc(const struct sim_world *world);
const struct sim_answer *sim_world_answer(const struct sim_world *world);
uint64_t sim_world_now_ticks(const struct sim_world *world);

/* returns: objects born so far; their numbers are below objects_max */
uint32_t sim_world_objects_count(const struct sim_world *world);
const struct sim_object *sim_world_object(const struct sim_world *world,
                                          uint32_t object);

/* returns: who holds what and who waits for it (locks.h) */
const struct sim_locks *sim_world_locks(const struct sim_world *world);

/* returns: does the task wait in a queue; does it hold a mutex? */
bool sim_world_task_waits(const struct sim_world *world, uint32_t task);
bool sim_world_task_holds(const struct sim_world *world, uint32_t task,
                          uint32_t lock, bool shares);

/* returns: does the task's processor stand still (event `stall`)? */
bool sim_world_stalls(const struct sim_world *world, uint32_t task);

/* returns: world time until no processor stands still; 0 if none does */
uint64_t sim_world_stall_ticks(const struct sim_world *world);

/*
 * Find an object in a state.
 *
 * in:      from, the first number to look at
 * returns: its number, sim_world_objects_count() if there is none
 */
uint32_t sim_world_find(const struct sim_world *world,
                        enum sim_object_state state, uint32_t from);

#endif
