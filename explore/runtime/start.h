/* start.h -- explores a whole program as a kernel. */
#ifndef EXPLORE_RUNTIME_START_H
#define EXPLORE_RUNTIME_START_H

#include "explore/engine/explore.h"

/*
 * Explore a whole program that begins with `function`, from the current state
 * of memory.
 *
 * in:      name, for reports
 *          function, returns the exit status
 *          stack, where the program's part of the process's own stack begins
 *          whole: does the process end when it returns?
 */
void sim_program_start(const char *name, int (*function)(void), void *stack,
                       bool whole);

/* Stop for a debugger before this event of the first run, or at its failure. */
void sim_program_stop_before(uint32_t event);

/* Restore memory to its state when the exploration began. */
void sim_program_end(void);

const struct sim_kernel *sim_program_kernel(void);

/* Has a run chosen a value that stands for others (verifier.c)? */
bool sim_program_chose_values(void);

#endif
