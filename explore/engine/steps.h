/*
 * steps.h -- the events of one run, kept only while a report is made; private
 * to explore/engine/.
 */
#ifndef EXPLORE_ENGINE_STEPS_H
#define EXPLORE_ENGINE_STEPS_H

#include "explore/engine/explore.h"

struct engine;

enum { TRACE_MAX = 4096 };

struct trace_event {
    enum sim_op op;
    uint32_t thread;
    int order;
    bool ok; /* compare-exchange, trylock */
    uintptr_t site;
    uintptr_t address;
    uint32_t bytes;
    uint64_t value;   /* read, or written by a store */
    uint64_t written; /* by an RMW */
    uint32_t from;    /* trace index of the store read, or TRACE_MAX */
    uint32_t newest;  /* trace index of the newest store, or TRACE_MAX */
    uint32_t behind;  /* how many newer stores the load passed over */
    uint32_t before;  /* trace index of the store it was put before */
    const char *what; /* SIM_OP_CALL: the operation */
    uint32_t choice;  /* length of the choice list at this event */
};

/* Show a debugger where every thread is; its breakpoint is the second. */
void sim_trace_stop(struct engine *e);
void sim_trace_stopped(void);
void sim_trace_stop_before(struct engine *e, uint32_t event);
extern uint64_t sim_trace_view[];

struct location;

/* script.c: runs of chosen events. */
void sim_script_open(struct engine *e);
uint32_t sim_script_choose(struct engine *e, const struct location *l,
                           const uint32_t *found, uint32_t count, bool place);

/*
 * Make the next run from these events, until the end.
 *
 * in:      runs, for each event of the trace: is it one of them?
 *          last, the thread that continues after them
 */
void sim_script_begin(struct engine *e, const struct trace_event *trace,
                      uint32_t count, const bool *runs, uint32_t last);
void sim_script_end(struct engine *e);

/*
 * slice.c: which events the failure depends on; all, if a run of these alone
 * does not confirm it.
 *
 * out:     needed, for each event
 * returns: how many are needed
 */
uint32_t sim_slice(struct engine *e, const struct trace_event *trace,
                   uint32_t count, const struct sim_failure *failure,
                   struct sim_choices *choices, bool *needed);

#endif
