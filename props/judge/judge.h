/*
 * judge.h -- after every event of a world, compares the library's results with
 * those of the model.
 */
#ifndef PROPS_JUDGE_JUDGE_H
#define PROPS_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/heap/heap.h"
#include "props/cover.h"
#include "props/property.h"
#include "sim/world/world.h"

/* Which properties a run broke, and how that showed. */
struct props_breach {
    props_set broken;             /* every property that the event broke */
    enum props_property property; /* names the breach */
    uint32_t event;               /* index of that event */
    char text[512];               /* expected and got, one difference */
};

struct props_judge {
    struct sim_world *world;
    struct model_heap *model;
    struct props_coverage *cover;
    props_set requested;        /* the properties to judge */
    struct model_limits limits; /* of the model, in this run */
    struct props_breach breach;
    uint64_t hash; /* of every answer: equal runs have equal hashes */
    uint32_t events;
    uint32_t truths_seen;
    uint32_t buckets_marked; /* how many buckets there were when they were last
                              * checked for coverage */
    int64_t last_ticks[SIM_PROCS_MAX];
    bool sampled;                  /* a heap rate was set */
    bool is_ending;                /* the judge makes the events, not the run */
    const struct truth_log *truth; /* of the world */
    struct prof_proc *procs[SIM_PROCS_MAX];
    uint32_t procs_count;
};

/* Begin to judge a world that was reset. in: judge, whose first four fields are
 * set */
void props_judge_begin(struct props_judge *judge);

/*
 * Judge the event that the world has just applied.
 *
 * returns: false if it broke a property that was asked for; see judge->breach
 */
bool props_judge_event(struct props_judge *judge);

/*
 * Judge the end: let the collector finish without faults, three times, and
 * check that nothing is pending (L1).
 *
 * returns: as props_judge_event()
 */
bool props_judge_end(struct props_judge *judge);

#endif
