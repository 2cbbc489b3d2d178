/*
 * replay.h -- runs a scenario: judges each event, and compares the results with
 * the file's `expect` lines. The scenario runs in a process of its own, because
 * it may crash.
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
 * Replay a scenario. If its file expects a broken property and another one
 * breaks first, only the expected one is judged.
 *
 * out:     *replay
 * returns: false if the system refused memory or a process
 */
bool props_replay_run(struct props_replay *replay,
                      const struct sim_scenario *scenario, props_set asked);

/* returns: the property that the file expects to be broken, if it breaks when
 * it alone is judged; else `asked` */
props_set props_replay_asked(const struct sim_scenario *scenario,
                             props_set asked);

/* How to replay for debugging. */
struct props_replay_way {
    bool in_process;       /* the caller's process, and no limit of time */
    uint32_t break_before; /* event to stop before, from 1; 0: none */
};

/*
 * The same in the caller's process: a run that crashes ends this process, and
 * one that hangs never returns. Before event way->break_before the replay
 * raises SIGTRAP, so that a debugger stops there.
 */
bool props_replay_here(struct props_replay *replay,
                       const struct sim_scenario *scenario, props_set asked,
                       const struct props_replay_way *way);

#endif
