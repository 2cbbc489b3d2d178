/* errno.c -- each thread's errno. */
#include "explore/runtime/program.h"

#include <errno.h>

#include "explore/runtime/explored.h"

static int errnos[SIM_THREADS_MAX];

int *
explored___errno_location(void)
{
    struct engine *e = &sim_engine;

    return sim_program_runs(e) ? &errnos[e->current] : __errno_location();
}

void
sim_errno_reset(uint32_t thread)
{
    errnos[thread] = 0;
}
