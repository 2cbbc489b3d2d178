/* explained.h -- check that a history of calls is linearizable. */
#ifndef PROPS_KERNELS_EXPLAINED_H
#define PROPS_KERNELS_EXPLAINED_H

#include "explore/engine/explore.h"
#include "explore/engine/linear.h"

/* Fails unless a sequential object explains the results. */
static inline void
kernel_explained(const struct sim_linear_model *model,
                 const struct sim_history *history)
{
    sim_explore_check(sim_linear_check(model, history),
                      "no order of the calls explains their results");
}

#endif
