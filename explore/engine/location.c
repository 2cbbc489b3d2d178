/*
 * location.c -- locations in memory that explored code uses atomically.
 *
 * A table maps the address of each eight-byte word to the locations in it,
 * which have sizes of their own. Real memory holds the last value of each
 * location.
 */
#include "explore/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"

/* The processors that this runs on are little-endian. */
static uint64_t
memory_read(uintptr_t address, uint32_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, (const void *)address, bytes);
    return value;
}

void
sim_location_write(uintptr_t address, uint32_t bytes, uint64_t value)
{
    memcpy((void *)address, &value, bytes);
}

/*
 * Resets only the fields that are read before the run writes them: zeroing
 * everything would take a tenth of a short run. Who has seen the first store
 * does not matter: no store goes in front of it, and it hides none.
 */
static void
location_reset(struct location *l, uintptr_t address, uint32_t bytes)
{
    static const struct clock none;
    struct store *first = &l->stores[0];

    l->address = address;
    l->bytes = bytes;
    l->reloaded = false;
    l->stores_count = 1;
    l->read = l->written = l->least = none;
    l->chain.last = 0;
    l->chain.causal = none;
    first->value = memory_read(address, bytes);
    first->thread = first->stamp = 0;
    first->sync = first->causal = none;
    first->trace = TRACE_MAX;
}

static struct location *
location_new(struct engine *e, struct word *word, uintptr_t address,
             uint32_t bytes, uint8_t mask, uintptr_t site)
{
    struct location *l;

    if ((word->atomic_mask & mask) != 0)
        sim_engine_refuse(e, SIM_FAIL_MIXED_SIZE, site, 0,
                          "atomic accesses of different size to one place");
    if (e->state.locations_count == LOCATIONS_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the threads touch too many atomics");
    l = &e->locations[e->state.locations_count++];
    if (l->stores == NULL) {
        l->stores_room = 8;
        l->stores = sim_need(malloc(l->stores_room * sizeof *l->stores));
    }
    location_reset(l, address, bytes);
    l->mask = mask;
    l->word = word;
    l->next = word->locations;
    word->locations = e->state.locations_count;
    word->atomic_mask |= mask;
    return l;
}

static inline struct location *
find(struct engine *e, const struct word *word, uint8_t mask)
{
    for (uint32_t i = word->locations; i != 0;) {
        struct location *l = &e->locations[i - 1];

        if (l->mask == mask)
            return l;
        i = l->next;
    }
    return NULL;
}

/* The location of an atomic access: a new one, or that of earlier accesses. */
struct location *
sim_location_of(struct engine *e, uintptr_t address, uint32_t bytes,
                uintptr_t site)
{
    const uint32_t offset = (uint32_t)(address & 7);
    const uint8_t mask = (uint8_t)(((1U << bytes) - 1) << offset);
    struct location *l;
    struct word *word;

    if ((address & (bytes - 1)) != 0)
        sim_engine_refuse(e, SIM_FAIL_MIXED_SIZE, site, 0,
                          "a misaligned atomic");
    sim_heap_check(e, address, bytes, site);
    sim_stack_check(e, address, bytes, site);
    word = sim_memory_word(e, address - offset, site);
    l = find(e, word, mask);
    if (l == NULL)
        return location_new(e, word, address, bytes, mask, site);
    if (l->reloaded) {
        l->reloaded = false;
        l->stores[0].value = memory_read(address, bytes);
    }
    return l;
}
