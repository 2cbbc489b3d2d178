/*
 * replay.h -- runs a scenario: judges each event, and compares the results with
 * the file's `expect` lines. It does so in a process of its own, because a
 * saved scenario may be one that ends its process.
 */
#ifndef PROPS_REPLAY_H
#define PROPS_REPLAY_H

#include <stdbool.h>

#include "judge.h"
#include "scenario.h"

struct props_replay {
    struct props_breach breach; /* property PROPS_NONE: nothing was broken */
    struct sim_error error;     /* text "" if every expectation held */
    bool as_expected; /* expectations held, and the outcome is the one named */
    bool refused;     /* the file asks for what there is not; see error */
    bool crashed;     /* the run ended its process */
    int signal;       /* crashed: by what, 0 if by exit; SIGALRM: no end */
};

/*
 * If the file expects a broken property and another one breaks first, the
 * expected one is judged alone.
 *
 * out:     *replay
 * returns: false if the system refused memory or a process
 */
bool props_replay_run(struct props_replay *replay,
                      const struct sim_scenario *scenario, props_set asked);

/* returns: the property that the file expects to be broken, if it is broken
 * even when it alone is judged; else `asked` */
props_set props_replay_asked(const struct sim_scenario *scenario,
                             props_set asked);

/* How a replay may be looked into. */
struct props_replay_way {
    bool in_process;       /* the caller's process, and no limit of time */
    uint32_t break_before; /* event to stop before, from 1; 0: none */
};

/*
 * The same in the caller's process: a run that crashes ends it, and one that
 * hangs never returns. Before event way->break_before it raises SIGTRAP, where
 * a debugger stops.
 */
bool props_replay_here(struct props_replay *replay,
                       const struct sim_scenario *scenario, props_set asked,
                       const struct props_replay_way *way);

#endif
