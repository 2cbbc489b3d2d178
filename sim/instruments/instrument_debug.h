/* instrument_debug.h -- the lines that a runtime prints of each allocation,
 * free and collection (GODEBUG=allocfreetrace=1). */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_DEBUG_H
#define SIM_INSTRUMENTS_INSTRUMENT_DEBUG_H

#include <stddef.h>

#include "prof/symbol.h"
#include "sim/world/world.h"

/* The address that is printed for an object of a world. Objects are only
 * numbers, so sizes do not matter. */
#define SIM_OBJECT_ADDRESS(object) \
    (UINT64_C(0xc000000000) + 16 * (uint64_t)(object))

/* What was printed so far. */
struct sim_debug_text {
    const char *bytes; /* not ended */
    size_t bytes_count;
    uint32_t events; /* allocations, frees, collections */
};

/* in: world, which carries it */
struct sim_debug_text sim_debug_text(const struct sim_world *world);

/* Set the names of addresses for the rest of the run; at its start no address
 * has a name. */
void sim_debug_name(struct sim_world *world,
                    const struct prof_symbols *symbols);

#endif
