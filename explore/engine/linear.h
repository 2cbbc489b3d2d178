/*
 * linear.h -- is a short concurrent history linearizable?
 *
 * Wing and Gong's search with Lowe's memoization. It repeatedly picks an
 * operation that may come first (no other one returned before it was called),
 * applies it to the sequential model, and undoes it when stuck. Each pair (set
 * of operations done, state) is tried once.
 *
 * Times come from sim_explore_mark(), so exhaustive search distinguishes
 * histories with the same graph but a different order of calls and returns.
 */
#ifndef EXPLORE_ENGINE_LINEAR_H
#define EXPLORE_ENGINE_LINEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_HISTORY_MAX = 64,        /* operations */
    SIM_LINEAR_STATE_BYTES = 256 /* of the sequential object */
};

struct sim_operation {
    uint32_t thread;
    uint32_t kind; /* the model's own numbering */
    uint64_t key;  /* for the model */
    uint64_t argument;
    uint64_t result;
    uint64_t call_time;
    uint64_t return_time;
    bool pending; /* called, not returned: may have taken effect or not */
};

struct sim_history {
    struct sim_operation operations[SIM_HISTORY_MAX];
    uint32_t count;
    bool overflowed;
};

struct sim_linear_model {
    size_t state_bytes; /* at most SIM_LINEAR_STATE_BYTES; begins all zero */
    /*
     * Apply one operation. The result of a pending one is not compared.
     *
     * returns: false if the operation cannot have this result here
     */
    bool (*step)(void *state, const struct sim_operation *operation);
};

void sim_history_init(struct sim_history *history);

/* Begin an operation of the running thread. returns: its number */
uint32_t sim_history_call(struct sim_history *history, uint32_t kind,
                          uint64_t key, uint64_t argument);

/* End an operation. */
void sim_history_return(struct sim_history *history, uint32_t operation,
                        uint64_t result);

/* Does some order of the operations explain their results? */
bool sim_linear_check(const struct sim_linear_model *model,
                      const struct sim_history *history);

#endif
