/*
 * spin.h -- put in front of every explored source by the rule cc_explored.
 *
 * Production code that waits for another thread executes a pause instruction in
 * each round of its loop. In an explored run, the call in its place tells the
 * explorer that a round was unsuccessful.
 *
 * Code that reads the processor's cycle counter reads the explorer's model of
 * it instead (props/kernels/counter.c).
 */
#ifndef EXPLORE_ENGINE_SPIN_H
#define EXPLORE_ENGINE_SPIN_H

void sim_explore_spin_wait(void);
void sim_explore_load_fence(void);
unsigned long long sim_explore_counter(void);

#define __builtin_ia32_pause  sim_explore_spin_wait
#define __builtin_ia32_lfence sim_explore_load_fence
#define __builtin_ia32_rdtsc  sim_explore_counter

#endif
