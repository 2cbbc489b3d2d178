/* explained.h -- check that a history of calls is linearizable. */
#ifndef EXPLAINED_H
#define EXPLAINED_H

#include "explore.h"
#include "linear.h"

/* Fails unless a sequential object explains the results. */
static inline void
kernel_explained(const struct sim_linear_model *model,
                 const struct sim_history *history)
{
    sim_explore_check(sim_linear_check(model, history),
                      "no order of the calls explains their results");
}

#endif
