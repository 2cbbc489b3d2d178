/*
 * spin.h -- put in front of every explored source by the rule cc_explored.
 *
 * Production code that waits for another thread tells the processor that it
 * spins. In an explored run that is the end of a fruitless round.
 */
#ifndef SIM_SPIN_H
#define SIM_SPIN_H

void sim_explore_spin_wait(void);

#define __builtin_ia32_pause sim_explore_spin_wait

#endif
