/* world_inside.h -- the fields of a world, for the files of the world. */
#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

#include "locks.h"
#include "world.h"

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
    int64_t jumped_ticks[SIM_PROCS_MAX]; /* by each clock, in all */
    size_t heap_dirty;                   /* records that are not guard bytes */
    size_t contention_dirty;
};

/* The processor of the task that does an event, and the library's of it. */
uint32_t sim_world_proc_of(const struct sim_world *world, uint32_t task);
struct prof_proc *sim_world_prof_proc(struct sim_world *world, uint32_t task);

/* What a processor's clock reads now. */
int64_t sim_world_clock(const struct sim_world *world, uint32_t proc);

/* Events of waiting, locks and rates. returns: as sim_world_apply() */
const char *sim_world_apply_contention(struct sim_world *world,
                                       const struct sim_event *event);
const char *sim_world_apply_jump(struct sim_world *world,
                                 const struct sim_event *event);
const char *sim_world_apply_rate(struct sim_world *world,
                                 const struct sim_event *event);
const char *sim_world_apply_lock(struct sim_world *world,
                                 const struct sim_event *event);

#endif
