/*
 * truth.h -- the truth log: what really happened in a world, in order.
 *
 * The world appends; the model reads, and reads nothing else. An entry states a
 * fact of the program, its collector, or a call into the library; it never
 * holds anything the library answered.
 */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

enum truth_kind {
    /* The program. */
    TRUTH_ALLOC,         /* object, stack, size_bytes */
    TRUTH_DROP,          /* object: nothing refers to it any more */
    TRUTH_FREE_EXPLICIT, /* object: the program freed it, the library is told */
    TRUTH_BLOCK,         /* stack, cycles: a wait ended, the library is told */
    TRUTH_MUTEX,         /* stack, cycles: a release ended waits, is told */
    TRUTH_WAIT,          /* task, lock, stack: it begins to wait in a queue */
    TRUTH_RELEASED,      /* task, lock: it is let go by whose proc and stack are
                            here; the library is told of a mutex event. flag:
                            others go on waiting for the lock */
    TRUTH_WOKEN,         /* task, lock, stack, proc: its own; its wait is over;
                            the library is told of a block event */
    TRUTH_CLOCK_JUMP,    /* cycles: by how much the clock of proc jumps */
    TRUTH_CLOCK_FREEZE,  /* cycles: for how long the clock of proc stands */
    TRUTH_STALL,         /* cycles: for how long proc itself stands */
    TRUTH_BLOCK_RATE,    /* cycles: the rate in ns from now on */
    TRUTH_MUTEX_FRACTION, /* cycles: the fraction */
    TRUTH_HEAP_RATE,      /* cycles: the rate in bytes; 1 at the start */

    /* The collector. */
    TRUTH_MARK,      /* marking starts; objects born from now on survive it */
    TRUTH_DEAD,      /* object: the marking that ends now found it dead */
    TRUTH_TERMINATE, /* marking has ended, the world is stopped; follows its
                        TRUTH_DEAD entries. flag: stop-the-world sweep */
    TRUTH_SWEEP,     /* object: swept, the library is told of its free */

    /* Control calls. */
    TRUTH_NEXT_CYCLE,
    TRUTH_FLUSH,
    TRUTH_POST_SWEEP,
    TRUTH_SNAPSHOT,       /* flag: all buckets; room: records that fit */
    TRUTH_ITERATE,        /* read what is published, publish nothing */
    TRUTH_BLOCK_SNAPSHOT, /* room */
    TRUTH_MUTEX_SNAPSHOT, /* room */
    TRUTH_KIND_COUNT
};

#define TRUTH_ROOM_ENOUGH UINT32_MAX /* room for whatever there is */

struct truth_entry {
    enum truth_kind kind;
    uint32_t proc;       /* whose clock at_ticks is */
    int64_t at_ticks;    /* virtual cycle clock of that processor */
    uint32_t object;     /* dense, from 0; never used again */
    uint32_t stack;      /* index into the log's stacks */
    uint64_t size_bytes; /* of the object */
    int64_t cycles;      /* of a contention event, as measured */
    uint32_t room;
    uint32_t task; /* who waits */
    uint32_t lock; /* kind << 8 | number; equal for one lock only */
    bool flag;
};

/* A call stack as the program had it: whole, leaf first. */
struct truth_stack {
    const uintptr_t *frames; /* owned by the world, does not change */
    uint32_t depth;
};

struct truth_log {
    struct truth_entry *entries;
    uint32_t entries_count;
    uint32_t entries_max;
    const struct truth_stack *stacks;
    uint32_t stacks_count;
    uint32_t lost; /* entries that did not fit; a run with any is void */
    struct truth_entry spare; /* where those went */
};

/*
 * Append an entry; counted in `lost` if the log is full.
 *
 * returns: the entry, for the caller to fill in, every field of it
 */
static inline struct truth_entry *
truth_next(struct truth_log *log)
{
    if (log->entries_count < log->entries_max)
        return &log->entries[log->entries_count++];
    log->lost++;
    return &log->spare;
}

/* returns: a hash of all entries, equal for equal logs on any machine */
uint64_t truth_hash(const struct truth_log *log);

#endif
