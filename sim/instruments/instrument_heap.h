/* instrument_heap.h -- the heap profile as an instrument of a world. */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_HEAP_H
#define SIM_INSTRUMENTS_INSTRUMENT_HEAP_H

#include "prof/prof.h"
#include "sim/world/world.h"

/* returns: the bucket that an object was charged to; PROF_BUCKET_NONE */
prof_bucket sim_heap_bucket(const struct sim_world *world, uint32_t object);

#endif
