/* start.h -- make a program the kernel that is explored. */
#ifndef SIM_START_H
#define SIM_START_H

#include "explore.h"

/* Call first in main: goes on in a process whose addresses are not random. */
void sim_program_begin(char **argv);

/*
 * Explore `entry`, as a whole program that begins with it, from the state that
 * memory is in now.
 *
 * in:      name, for reports; entry, returns the exit status
 */
void sim_program_start(const char *name, int (*entry)(void *context),
                       void *context);

const struct sim_kernel *sim_program_kernel(void);

#endif
