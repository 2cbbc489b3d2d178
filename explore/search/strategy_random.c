/* strategy_random.c -- each ready thread is as likely as any other. */
#include "explore/search/strategy.h"

const struct sim_strategy_part sim_strategy_random = {
    .name = "random",
    .answer = sim_strategy_choose,
};
