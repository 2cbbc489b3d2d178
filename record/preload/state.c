/* state.c -- what the files of the recorder share. */
#include "record/preload/recorder.h"

#include <time.h>

_Thread_local bool embed_inside;
_Thread_local struct embed_self embed_self;
struct embed_state *embed_state;

_Atomic uint32_t embed_generation;
_Atomic uint64_t embed_early_drops;
_Atomic uint32_t embed_names;
_Atomic uint32_t embed_confinements;
bool embed_is_bypassed;
uint64_t embed_forked_ticks;
struct embed_config embed_config;
_Atomic int embed_clock = CLOCK_MONOTONIC;

uint64_t
embed_ticks(void)
{
    struct timespec now;

    clock_gettime(atomic_load_explicit(&embed_clock, memory_order_relaxed),
                  &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
