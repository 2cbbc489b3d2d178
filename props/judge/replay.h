/*
 * replay.h -- runs a scenario: judges each event, and compares the results with
 * the file's `expect` lines. The scenario runs in a process of its own, because
 * it may crash.
 */
#ifndef PROPS_JUDGE_REPLAY_H
#define PROPS_JUDGE_REPLAY_H

#include <stdbool.h>

#include "props/judge/judge.h"
#include "sim/scenario/scenario.h"

struct props_replay {
    struct props_breach breach; /* property PROPS_NONE: nothing was broken */
    struct sim_error error;     /* text "" if every expectation held */
    bool as_expected; /* all expectations held, and so did the outcome that the
                       * file names */
    bool refused;     /* the file asks for something that does not exist; see
                       * error */
    bool crashed;     /* the run ended its process */
    int signal;       /* of a crash: its signal, 0 for an exit, SIGALRM for an
                       * endless run */
};

/*
 * Replay a scenario. If its file expects a broken property and another one
 * breaks first, only the expected one is judged.
 *
 * out:     *replay
 * returns: false if the system refused memory or a process
 */
bool props_replay_run(struct props_replay *replay,
                      const struct sim_scenario *scenario, props_set requested);

/* returns: the property that the file expects to be broken, if it breaks when
 * only that one is judged; else `requested` */
props_set props_replay_requested(const struct sim_scenario *scenario,
                                 props_set requested);

/* How to replay for debugging. */
struct props_replay_way {
    bool in_process;       /* in the caller's process, without a time limit */
    uint32_t break_before; /* the event before which to stop, from 1; 0: none */
};

/*
 * The same in the caller's process. A run that crashes ends this process, and
 * an endless one never returns. Before event way->break_before the replay
 * raises SIGTRAP, so that a debugger stops there.
 */
bool props_replay_here(struct props_replay *replay,
                       const struct sim_scenario *scenario, props_set requested,
                       const struct props_replay_way *way);

#endif
