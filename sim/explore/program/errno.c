/* errno.c -- each thread's errno. */
#include "program.h"

#include <errno.h>

#include "explored.h"

static int errnos[SIM_THREADS_MAX];

int *
explored___errno_location(void)
{
    return sim_program_runs() ? &errnos[sim_engine.current]
                              : __errno_location();
}

void
sim_errno_reset(uint32_t thread)
{
    errnos[thread] = 0;
}
