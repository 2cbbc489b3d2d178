/* world_inside.h -- the fields of a world, for the files of the world. */
#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

#include "locks.h"
#include "world.h"

/* What faults do to a processor; all times are of the world. */
struct sim_hold {
    int64_t jumped_ticks;  /* of its clock, in all */
    uint64_t lost_ticks;   /* while it was frozen, in all ended ones */
    uint64_t frozen_ticks; /* when the last freeze began */
    uint64_t thaws_ticks;  /* and ends */
    uint64_t stalled_until_ticks;
};

struct sim_world {
    struct sim_config config;
    struct sim_limits limits;
    struct prof_rules rules; /* the configuration's, with its options */
    void *block;
    size_t block_bytes;
    struct prof *prof;
    struct sim_object *objects;
    uint32_t objects_count;
    struct truth_log truth;
    struct sim_gc gc;
    struct sim_locks locks;
    bool locks_used; /* since the last reset */
    struct sim_answer answer;
    uint64_t now_ticks;
    struct sim_hold holds[SIM_PROCS_MAX];
    bool holds_used;   /* since the last reset */
    size_t heap_dirty; /* records that are not guard bytes */
    size_t contention_dirty;
};

/* The processor of the task that does an event, and the library's of it. */
uint32_t sim_world_proc_of(const struct sim_world *world, uint32_t task);
struct prof_proc *sim_world_prof_proc(struct sim_world *world, uint32_t task);

/* How much of its last freeze a processor's clock has missed so far. */
uint64_t sim_world_frozen_ticks(const struct sim_world *world, uint32_t proc);

/* What a processor's clock reads now. */
int64_t sim_world_clock(const struct sim_world *world, uint32_t proc);

/* Events of faults, waiting, locks and rates. returns: as sim_world_apply() */
const char *sim_world_apply_contention(struct sim_world *world,
                                       const struct sim_event *event);
const char *sim_world_apply_jump(struct sim_world *world,
                                 const struct sim_event *event);
const char *sim_world_apply_hold(struct sim_world *world,
                                 const struct sim_event *event);
const char *sim_world_apply_rate(struct sim_world *world,
                                 const struct sim_event *event);
const char *sim_world_apply_lock(struct sim_world *world,
                                 const struct sim_event *event);

#endif
