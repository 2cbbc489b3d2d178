/*
 * truth.h -- the truth log: what really happened in a world, in order.
 *
 * The world appends to the log; the model reads the log and nothing else. An
 * entry states a fact about the program, its tasks, its collector, or a call
 * into the library. It never holds anything that the library returned.
 */
#ifndef SIM_TRUTH_TRUTH_H
#define SIM_TRUTH_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

enum truth_kind {
#define X(id, calls, text) id,
#include "sim/truth/truth.def"
#undef X
    TRUTH_KIND_COUNT
};

#define TRUTH_TASKS_FIRST TRUTH_PROC_START /* facts about tasks begin here */

#define TRUTH_NO_PROC     UINT32_MAX
#define TRUTH_NO_STACK    UINT32_MAX
#define TRUTH_ROOM_ENOUGH UINT32_MAX /* room for everything */

struct truth_entry {
    enum truth_kind kind;
    uint32_t proc;    /* where; TRUTH_NO_PROC: on none */
    int64_t at_ticks; /* what that processor's clock read */
    uint32_t object;  /* dense, from 0; never reused. In facts about tasks: the
                         other task, to which it is done */
    uint32_t stack;   /* index into the log's stacks; or TRUTH_NO_STACK */
    uint64_t size_bytes; /* of the object. In facts about tasks: the value */
    int64_t cycles;      /* length of a wait, as measured */
    uint32_t room;
    uint32_t task; /* the acting task; 0 is none where processors take tasks */
    uint32_t lock; /* kind << 8 | number, unique to a lock. In a
                      contended one: the stack of the holder */
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
    struct truth_entry spare; /* entries that do not fit are written here */
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

/* returns: what the library is called for, a letter of truth.def */
char truth_calls(enum truth_kind kind);

/* returns: a hash of all entries, equal for equal logs on any machine */
uint64_t truth_hash(const struct truth_log *log);

#endif
