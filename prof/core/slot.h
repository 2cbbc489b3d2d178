/* slot.h -- the row in a slot of the bucket table, and a hash's first slot. */
#ifndef PROF_CORE_SLOT_H
#define PROF_CORE_SLOT_H

#include <stdint.h>

#include "prof/core/group.h"
#include "prof/core/table.h"

static inline uint32_t
row_of(const struct table *table, uint64_t slot)
{
    return (uint32_t)(slot >> 32) & table->row_mask;
}

/* The first slot of a hash's group. */
static inline uint64_t
home(const struct table *table, uint64_t hash)
{
    return hash & table->home_mask;
}

#endif
