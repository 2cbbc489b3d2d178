/*
 * strategy_graphs.c -- each execution graph once: reduce.c says which thread
 * has to run, and which of its reads are still to be tried.
 *
 * Example: two threads that each write x once and read it once have 6
 * interleavings of their events and 4 graphs. This strategy makes 4 runs, by
 * schedules it would be 6.
 *
 * Of the family of Abdulla, Aronis, Jonsson and Sagonas, "Optimal dynamic
 * partial order reduction" (POPL 2014), and Kokologiannakis, Marmanis,
 * Gladstein and Vafeiadis, "Truly stateless, optimal dynamic partial order
 * reduction" (POPL 2022); reduce.c says where it differs.
 */
#include "explore/search/strategy.h"

#include "explore/engine/engine.h"

const struct sim_strategy_part sim_strategy_graphs = {
    .name = "graphs",
    .must_run = sim_reduce_pick,
    .answer = sim_strategy_choose,
};
