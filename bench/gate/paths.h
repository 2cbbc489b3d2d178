/* paths.h -- what the drivers of the gate share. */
#ifndef BENCH_GATE_PATHS_H
#define BENCH_GATE_PATHS_H

#include <stdint.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "prof/status.h"

enum { STACKS = 1000, FRAMES_MAX = 128, DEPTH = 16 };

/* Count one path, under its name. */
static inline void
count(const char *name, void (*path)(void))
{
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    path();
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
}

static inline void
must(enum prof_status status)
{
    if (status != PROF_OK)
        exit(1);
}

/* returns: the i-th of STACKS stacks of FRAMES_MAX frames, always the same */
static inline const uintptr_t *
gate_stack(const uintptr_t *frames, uint32_t i)
{
    return &frames[(size_t)i * FRAMES_MAX];
}

/* The paths of trace_paths.c: hash, CPU ticks, trace, profile file. */
void gate_trace_paths(const uintptr_t *frames);

#endif
