/*
 * strategy.h -- the interface of a strategy: which thread runs next.
 *
 * A run asks at each scheduling point, and only there:
 *
 *      begin()                      a run begins
 *      { step()                     a thread stands before an event
 *        must_run() == thread       ... and this thread has to run; or
 *        seen()                     ... the run may end here; and
 *        answer(can_go_on, count) } ... one of `count` ready threads runs
 *
 * Answer 0 is the current thread, if it can go on, then come the others by
 * number. Each answer is recorded (choice.h), so every run replays without its
 * strategy.
 *
 * Example: threads 0, 1 and 2 are ready and 1 has just run. Answer 0 lets
 * thread 1 go on, answer 1 is thread 0, answer 2 thread 2. The list `0 0 2`
 * lets thread 1 make two more events, then switches to thread 2.
 *
 * Any function but answer() may be NULL. Private to the explorer.
 */
#ifndef EXPLORE_SEARCH_STRATEGY_H
#define EXPLORE_SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct sim_strategy_part {
    const char *name;
    void (*begin)(struct engine *e);
    void (*step)(struct engine *e);
    /* returns: the thread, or SIM_THREADS_MAX if there is a choice */
    uint32_t (*must_run)(struct engine *e, bool can_go_on);
    void (*seen)(struct engine *e, bool can_go_on);
    uint32_t (*answer)(struct engine *e, bool can_go_on, uint32_t count);
};

extern const struct sim_strategy_part sim_strategy_graphs;
extern const struct sim_strategy_part sim_strategy_schedules;
extern const struct sim_strategy_part sim_strategy_replay;
extern const struct sim_strategy_part sim_strategy_script;
extern const struct sim_strategy_part sim_strategy_random;
extern const struct sim_strategy_part sim_strategy_pct;
extern const struct sim_strategy_part sim_strategy_urw;
extern const struct sim_strategy_part sim_strategy_stall;

/* The strategy of the run that begins. */
const struct sim_strategy_part *sim_strategy_of(const struct engine *e);

/* ---- What several strategies share ---- */

/* Answer from the list of choices, which knows or draws it. */
uint32_t sim_strategy_choose(struct engine *e, bool can_go_on, uint32_t count);

/* Record that the strategy wants this one of the threads in `order`. */
uint32_t sim_strategy_record(struct engine *e, uint32_t count, uint32_t wish);

/* out:     order, the threads of the answers 0, 1, ... */
void sim_strategy_order(struct engine *e, bool can_go_on, uint8_t order[]);

/* The kernel's threads, and those that the run before has created. */
uint32_t sim_strategy_threads(const struct engine *e);

#endif
