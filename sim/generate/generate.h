/*
 * generate.h -- makes worlds from choices: first the kind of world, then one
 * event after the other.
 *
 * Swarm testing: each run first draws which features it has at all, instruments
 * among them. If every feature were possible in every run, a run would rarely
 * do any one thing often enough.
 */
#ifndef SIM_GENERATE_GENERATE_H
#define SIM_GENERATE_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"
#include "sim/generate/fault.h"
#include "sim/world/queue.h"
#include "sim/world/world.h"

enum {
    SIM_STACKS_MAX = 8,
    SIM_FRAMES_MAX = 40,  /* deepest stack that is generated for a heap */
    SIM_DEEP_MAX = 140,   /* ... and for a trace; the tracer cuts it */
    SIM_EVENTS_MAX = 512, /* events of one generated run */
    SIM_BUCKETS_MAX = 64,
    SIM_ACTORS_MAX = 16, /* processors, collector, observer */
    SIM_WORKS_MAX = 40,  /* what a task may be asked to do, with weights */
};

/* Which worlds a generator may draw, a bit each. */
enum {
    SIM_WORLDS_HEAPS = 1,  /* heaps and waits; nothing is scheduled */
    SIM_WORLDS_TRACED = 2, /* tasks that processors take, and a trace */
    SIM_WORLDS_BOTH = 4,   /* all instruments on one world */
    SIM_WORLDS_SUBJECT = 8 /* blocks and threads that a subject watches */
};

/* How sizes are distributed. */
enum sim_sizes { SIM_SIZES_FEW, SIM_SIZES_WIDE, SIM_SIZES_ONE };

/* Which objects die first. */
enum sim_lifetimes {
    SIM_DIE_OLDEST_FIRST,
    SIM_DIE_YOUNGEST_FIRST,
    SIM_DIE_ANY
};

/* What a run may do. */
struct sim_features {
    bool explicit_free;
    bool task_exit;
    bool contention;
    bool sampling; /* rates are set, and changed */
    bool locks;    /* tasks wait for each other */
    bool stw_sweep;
    bool post_sweep;
    bool late_flush;  /* sweeps may come before the flush */
    bool short_rooms; /* snapshots into buffers that are too small */
    enum sim_sizes sizes;
    enum sim_lifetimes lifetimes;
    bool odd_sizes; /* sizes of 0 occur, too */

    /* Where a subject watches. */
    bool huge_sizes;
    bool alignments;
};

struct sim_generator {
    const struct subject *subject; /* in, for SIM_WORLDS_SUBJECT */
    struct sim_choices *choices;
    struct sim_features features;
    struct sim_faults faults;
    struct sim_queue queue;
    uint64_t queue_words[SIM_QUEUE_WORDS(SIM_ACTORS_MAX)];
    uint8_t works[SIM_WORKS_MAX]; /* those that this run has */
    uint32_t works_count;
    struct sim_config config;
    struct truth_stack stacks[SIM_STACKS_MAX];
    uintptr_t frames[SIM_STACKS_MAX][SIM_FRAMES_MAX];
    uint64_t now_ticks;
    uint64_t applied_ticks; /* world time of the event handed out last */
    uint64_t stalled_ticks[SIM_PROCS_MAX]; /* end of a processor's stall */
    uint64_t stalls_end_ticks;             /* the last of them */
    uint32_t events;
    uint32_t more_bound; /* 1 step in `more_bound` ends the run */

    /* Where processors take tasks. */
    uintptr_t deep[SIM_STACKS_MAX][SIM_DEEP_MAX];
    bool has[SIM_EV_COUNT]; /* by kind: may it happen at all? */
    uint32_t left_out;      /* instruments to leave out when a run is
                              repeated, a bit each */
    bool has_heap;          /* the profiles are carried, too */
    bool ends;              /* no more choices: stop and read */
};

/* The largest worlds that a generator builds: of heaps alone; of any kind
 * except for a subject; for a subject. */
extern const struct sim_limits sim_generator_limits;
extern const struct sim_limits sim_generator_limits_all;
extern const struct sim_limits sim_generator_limits_subject;

/*
 * Draw the configuration of a run's world.
 *
 * out:     *generator; its `config` points into it
 * in:      choices, begun; rules, the rule set for the library; worlds, the
 *          set of kinds from which one is drawn
 */
void sim_generator_begin(struct sim_generator *generator,
                         struct sim_choices *choices,
                         const struct prof_rules *rules, uint32_t worlds);

/*
 * Draw the next event that is possible in `world`.
 *
 * out:     *event
 * returns: false when the run is over
 */
bool sim_generator_next(struct sim_generator *generator,
                        const struct sim_world *world, struct sim_event *event);

/*
 * End a run where processors take tasks: no more faults strike, stalled
 * processors go on, tracing stops, and the trace is read to its end.
 *
 * out:     *event, the next one
 * returns: false when nothing of this is left to do
 */
bool sim_quiet_next(const struct sim_world *world, struct sim_event *event);

/*
 * Find a processor on which the collector can act now.
 *
 * out:     *event: if true, only its processor is set (a world without
 *          processors ignores it); if false, a whole event that must happen
 *          first
 * returns: true if it can happen
 */
bool sim_collector_place(const struct sim_world *world,
                         struct sim_event *event);

#endif
