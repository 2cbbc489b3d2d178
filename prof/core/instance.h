/* instance.h -- the fields of struct prof and struct prof_proc. */
#ifndef PROF_CORE_INSTANCE_H
#define PROF_CORE_INSTANCE_H

#include <stdalign.h>

#include "prof/core/atomic.h"
#include "prof/core/counters.h"
#include "prof/core/grace.h"
#include "prof/port.h"
#include "prof/prof.h"
#include "prof/core/random.h"
#include "prof/core/sampler.h"
#include "prof/core/table.h"

struct prof {
    struct prof_rules rules; /* immutable after init, as are the arrays */
    struct table table;
    struct counters counters;
    struct prof_proc *procs;
    uint32_t procs_count;
    enum prof_world world;         /* immutable after init */
    struct prof_port_lock control; /* one control call at a time */
    shared_u32 cycle_lock;         /* may the cycle advance? (heap.c, I6) */
    shared_u32 cycle_word; /* cycle_word_of() | flushed; any thread reads,
                              written under control */
    shared_u32 frees_in_alloc_slot; /* 1: next_cycle was refused (heap.c); any
                              thread reads, next_cycle writes */
    shared_u64 no_free_path;        /* events dropped; any thread */
    shared_u64 no_mutex;            /* the same */
    shared_u64 block_rate_ticks; /* int64_t; set by any thread, read by all */
    shared_u64 mutex_fraction;   /* the same; off: the last one, negative */
    shared_u64 heap_rate_bytes;  /* the same */
    /* Rates at which heap buckets were sampled, in the order in which they
     * came. A rate stays in the list. Any thread. */
    shared_u64 heap_rates[SAMPLER_RATES];
    uint64_t ticks_per_second; /* immutable after init */
    bool publishes_all;        /* while a first snapshot publishes; guarded by
                                  control */
    bool has_published;        /* true after any publication; guarded by
                                  control */
};

/*
 * Complete a first snapshot's publication that a fork cut short.
 *
 * context: as prof_after_fork_child()
 */
void prof_heap_mend(struct prof *prof);

/* Values of cycle_lock: free, held. */
enum { CYCLE_MOVES, CYCLE_STANDS };

/* A cycle's word: bit 0 says that the cycle was flushed, the bits above it hold
 * the cycle's number, and those from bit 30 the index of its slot. */
enum { CYCLE_SLOT_SHIFT = 30 };

_Static_assert(PROF_CYCLE_WRAP <= 1U << (CYCLE_SLOT_SHIFT - 1),
               "room for both");

static inline uint32_t
cycle_word_of(uint32_t cycle)
{
    return cycle % COUNTER_SLOTS << CYCLE_SLOT_SHIFT | cycle << 1;
}

static inline uint32_t
cycle_of_word(uint32_t word)
{
    return (word & ((1U << CYCLE_SLOT_SHIFT) - 1)) >> 1;
}

/* The word of the next cycle, not flushed. */
static inline uint32_t
next_cycle_word(uint32_t word)
{
    const uint32_t slot = 1U << CYCLE_SLOT_SHIFT;
    const uint32_t next =
        (word | 1) + 1 + /* the cycle, and its slot */
        (word / slot < COUNTER_SLOTS - 1 ? slot : -(COUNTER_SLOTS - 1U) * slot);

    return next == PROF_CYCLE_WRAP << 1 ? 0 : next;
}

/* Is advancing the cycle only a change of its number? In a running world it
 * also starts a grace period, and PROF_HEAP_STAGES may rotate. */
static inline bool
advances_at_once(const struct prof *prof)
{
    return prof->world == PROF_WORLD_STOPPED &&
           prof->rules.heap == PROF_HEAP_RING;
}

struct prof_proc {
    alignas(PROF_BLOCK_ALIGN) struct prof *prof; /* immutable after init */
    struct rng rng; /* used by the processor only, like the next field */
    struct sampler sampler;
    struct section section;        /* any thread reads; grace.c */
    struct columns columns;        /* any thread reads; counters.c */
    const shared_u64 *allocs_hint; /* used by the processor only: the column of
                                      its last allocation */
};

#endif
