/*
 * prof/prof.h -- the profiler: an instance, its processors, and the profiles
 * of heap, blocking and mutex contention.
 *
 * Calls fall into two groups. *Record* calls (prof_heap_alloc and the like)
 * never fail, never block and never allocate; an event that does not fit is
 * dropped and counted by cause. *Control* calls (cycles, snapshots) return a
 * status.
 *
 * Call stacks are arrays of return addresses, leaf first. All events with the
 * same kind, size and stack share one *bucket*, which holds a copy of the stack
 * and lives as long as the instance.
 *
 * Every 64-bit counter wraps silently.
 *
 * How to link: cc program.c $(pkg-config --cflags --libs prof).
 *
 * The child of a fork calls prof_after_fork_child() before any other function
 * of the library, unless it only calls exec or _exit. prof/fork.h says what the
 * child keeps.
 *
 * If a caller breaks a contract so that memory would be damaged (a processor or
 * bucket number out of range), prof_port_panic() prints the broken condition
 * and ends the process.
 */
#ifndef PROF_PROF_H
#define PROF_PROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/rules.h"
#include "prof/status.h"
#include "prof/version.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof;      /* an instance; opaque */
struct prof_proc; /* one processor or thread of it; opaque */

/* The cycle number wraps here, a multiple of 3. docs/semantics.md, "Wrap". */
#define PROF_CYCLE_WRAP 100663296U

#define PROF_DEPTH_LIMIT   1024U      /* deepest stack ever kept, in frames */
#define PROF_BUCKETS_LIMIT (1U << 27) /* most buckets of an instance */
#define PROF_PROCS_LIMIT   (1U << 16)
#define PROF_BLOCK_ALIGN   64U

/* The hash function for call stacks. Which events share a bucket does not
 * depend on it. */
enum prof_hash {
    PROF_HASH_MULTILINEAR, /* the default: sums of products, 64 bits */
    PROF_HASH_GO_64, /* the one-at-a-time hash of Go's runtime, 64-bit words */
    PROF_HASH_GO_32, /* the same with 32-bit words */
    PROF_HASH_COUNT
};

/* Which threads may record while the cycle advances. */
enum prof_world {
    /* None: the embedder stops the world around prof_heap_next_cycle(). */
    PROF_WORLD_STOPPED,
    /* All: see prof_heap_next_cycle() for calls in flight. */
    PROF_WORLD_RUNNING
};

struct prof_config {
    const struct prof_rules *rules; /* NULL: &prof_rules_exact */
    enum prof_hash hash;
    uint32_t buckets_max; /* 1 .. PROF_BUCKETS_LIMIT; 0 is an error */
    uint32_t depth_max;   /* frames kept of a stack; 0: 32 */
    /* Frames of all buckets together; 0: 16 per bucket. frames_max + 2 *
       buckets_max must be below 2^31, so with the largest buckets_max the
       default is too large. */
    uint64_t frames_max;
    /* 0: 1. Each processor has its own counters: 40 bytes of the block per
       bucket, of which heap events touch 24, other events 16. */
    uint32_t procs_max;
    enum prof_world world;
    /*
     * The number of the first cycle, below PROF_CYCLE_WRAP. A number just below
     * the wrap lets a test reach it in minutes instead of months.
     */
    uint32_t cycle_first;
    /* Each processor's random numbers start from this and its index. */
    uint64_t seed;
    uint64_t ticks_per_second; /* of the clock; 0: 10^9. At most 10^10 */
};

/*
 * in:      config
 * returns: bytes that prof_init() needs, 0 if the configuration is wrong
 */
size_t prof_bytes_needed(const struct prof_config *config);

/*
 * Build an instance inside `block`. Most of the block is touched only as
 * buckets arrive, so a large reservation costs little. With 40,000 buckets or
 * more, huge pages save up to a third of a record call: on Linux take the block
 * from mmap(), aligned to 2 MB, and call madvise(block, bytes, MADV_HUGEPAGE)
 * before prof_init(). Memory is then used in steps of 2 MB.
 *
 * out:     *prof, valid until the caller reuses `block`
 * in:      block, aligned to PROF_BLOCK_ALIGN, all bytes zero; the library's
 *          from now on
 * returns: PROF_OK, PROF_ERR_CONFIG, PROF_ERR_MEMORY; PROF_ERR_UNSUPPORTED if
 *          the system has no barrier for PROF_WORLD_RUNNING. On error neither
 *          *prof nor the block is touched.
 */
PROF_NODISCARD enum prof_status prof_init(struct prof **prof,
                                          const struct prof_config *config,
                                          void *block, size_t block_bytes);

/*
 * in:      index, below procs_max
 * returns: the context of that processor, the same at each call. One thread at
 *          a time may use it. Signal handlers that interrupt this thread may
 *          use it too, even in the middle of a record call: no event is lost.
 *          Synchronise when another thread takes it over, as for any memory.
 */
struct prof_proc *prof_proc_at(struct prof *prof, uint32_t index);

/* ------------------------------------------------------------- random numbers
 *
 * Each processor has its own generator. It draws a number only when a rule
 * needs one (docs/sampling.md, "Draws"), so its state depends only on the seed
 * and on what was recorded.
 */

/* Restart the processor's random numbers. in: seed, any value */
void prof_proc_seed(struct prof_proc *proc, uint64_t seed);

/* returns: the state of the processor's random numbers */
uint64_t prof_proc_rng_state(const struct prof_proc *proc);

/*
 * Continue from a state. in: state, any value; zero, if the generator cannot
 * reach it, is replaced by a state that it can reach.
 */
void prof_proc_rng_resume(struct prof_proc *proc, uint64_t state);

/* ------------------------------------------------------- heap, record calls
 *
 * The number of a bucket. Keep it with the object until the object is freed.
 */
typedef uint32_t prof_bucket;
#define PROF_BUCKET_NONE 0U /* the allocation was dropped */

/*
 * Count an allocation.
 *
 * in:      stack, `depth` return addresses, leaf first; frames beyond depth_max
 *          are cut off. NULL if depth is 0.
 *          size_bytes, part of the bucket's identity
 * returns: the bucket, to pass when the object is freed; PROF_BUCKET_NONE if
 *          there was no room (prof_drops)
 * context: any thread, signal handlers included; under PROF_WORLD_STOPPED not
 *          during next_cycle
 */
prof_bucket prof_heap_alloc(struct prof_proc *proc, const uintptr_t *stack,
                            uint32_t depth, uint64_t size_bytes);

/* An allocation; each field as in prof_heap_alloc(). */
struct prof_heap_event {
    const uintptr_t *stack;
    uint32_t depth;
    uint64_t size_bytes;
};

/*
 * Count many allocations, as if by one prof_heap_alloc() after the other; for
 * recorders that have collected events, and for replays. With 100,000 stacks or
 * more it takes about half the time, because cache misses overlap; with a few
 * hundred stacks, which fit into the L1 cache, it takes longer.
 *
 * out:     buckets[i], of events[i]
 * in:      events, `count` of them
 * context: as prof_heap_alloc()
 */
void prof_heap_alloc_many(struct prof_proc *proc,
                          const struct prof_heap_event *events, size_t count,
                          prof_bucket *buckets);

/*
 * Count an object that the collector found dead, when it is swept.
 *
 * in:      bucket, from prof_heap_alloc(); PROF_BUCKET_NONE does nothing
 * context: as prof_heap_alloc()
 */
void prof_heap_free(struct prof_proc *proc, prof_bucket bucket);

/*
 * Count an object that the program itself freed. If it was allocated in the
 * same cycle, allocation and free are published together.
 *
 * in:      as prof_heap_free(). Under rules without explicit frees the event is
 *          dropped and counted.
 */
void prof_heap_free_explicit(struct prof_proc *proc, prof_bucket bucket);

/* ------------------------------------------------------ heap, control calls
 *
 * Call prof_heap_next_cycle() at each mark termination, with the world stopped,
 * and prof_heap_flush() after restarting it, before the next mark termination.
 * To show a collection's frees as soon as its sweep is over, call
 * prof_heap_post_sweep() when every dead object of the cycle is swept.
 * docs/semantics.md, "Which events a snapshot shows", has the rules.
 */

/*
 * Begin the next cycle: O(1) work under PROF_HEAP_RING.
 *
 * Under PROF_WORLD_RUNNING record calls may be in flight. Until those that saw
 * the old cycle have ended, nothing of the new cycle is published, and control
 * calls return PROF_ERR_BUSY.
 *
 * returns: PROF_OK. PROF_ERR_BUSY if another thread is in a control call, or
 *          record calls of the old cycle are still in flight; the cycle does
 *          not advance. With the world stopped, go on without the call, because
 *          the thread that holds the lock may be stopped: this collection's
 *          frees then appear together with the next one's. With the world
 *          running, call again, as for any control call: record calls are
 *          short.
 * context: PROF_WORLD_STOPPED: no record call in flight
 */
PROF_NODISCARD enum prof_status prof_heap_next_cycle(struct prof *prof);

/*
 * Publish the events that became final when the current cycle began. A second
 * call in the same cycle does nothing.
 *
 * returns: PROF_OK; PROF_WORLD_RUNNING: PROF_ERR_BUSY, see next_cycle
 * context: any thread; waits for other control calls
 */
PROF_NODISCARD enum prof_status prof_heap_flush(struct prof *prof);

/*
 * Publish the frees of the sweep that has just ended, and the allocations that
 * go with them. Does not advance the cycle. Under PROF_HEAP_STAGES it does
 * nothing.
 *
 * returns: as prof_heap_flush()
 * context: any thread, after the cycle's prof_heap_flush() and its last
 *          prof_heap_free(); waits for other control calls. Before the flush it
 *          would show frees without their allocations.
 */
PROF_NODISCARD enum prof_status prof_heap_post_sweep(struct prof *prof);

/* The state of the heap profile. */
struct prof_heap_phase {
    uint32_t cycle; /* below PROF_CYCLE_WRAP */
    bool flushed;   /* has this cycle been flushed? */
};

/* context: any thread */
struct prof_heap_phase prof_heap_phase(const struct prof *prof);

/* One bucket of a heap snapshot. */
struct prof_heap_record {
    uint64_t allocs;        /* objects */
    uint64_t frees;         /* objects */
    uint64_t size_bytes;    /* of each object */
    int64_t rate_bytes;     /* of their sampling; 1 or less: all were
                               recorded. Under Go's rules the current rate */
    const uintptr_t *stack; /* leaf first; owned by the instance, never
                               changes */
    uint32_t depth;         /* frames in stack */
};

static inline uint64_t
prof_heap_alloc_bytes(const struct prof_heap_record *record)
{
    return record->allocs * record->size_bytes;
}

static inline uint64_t
prof_heap_free_bytes(const struct prof_heap_record *record)
{
    return record->frees * record->size_bytes;
}

/* A C++ compiler may warn about C-style casts. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

static inline int64_t
prof_heap_inuse_objects(const struct prof_heap_record *record)
{
    return (int64_t)(record->allocs - record->frees);
}

static inline int64_t
prof_heap_inuse_bytes(const struct prof_heap_record *record)
{
    return (int64_t)((record->allocs - record->frees) * record->size_bytes);
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/* Which buckets a snapshot lists. */
enum prof_select {
    PROF_SELECT_INUSE, /* those whose allocated and freed bytes differ */
    PROF_SELECT_ALL    /* all, also those with nothing published yet */
};

/*
 * Read the published profile, newest bucket first. Publishes the current
 * cycle's slot on the way, as prof_heap_flush() would, but does not count as
 * that flush.
 *
 * First-snapshot rule: while nothing at all is published, the call publishes
 * everything recorded so far, whatever its cycle.
 *
 * out:     records[0 .. *count) if they fit. If not, they are unchanged, unless
 *          the excess buckets arrived during the call
 *          *count, the number of buckets to list
 * in:      records_max, room in records; 0 (and records NULL) to get only
 *          *count
 * returns: PROF_OK, PROF_ERR_SHORT (*count > records_max);
 *          PROF_WORLD_RUNNING: PROF_ERR_BUSY, see next_cycle
 * context: any thread; waits for other control calls
 */
PROF_NODISCARD enum prof_status
prof_heap_snapshot(struct prof *prof, enum prof_select select,
                   struct prof_heap_record *records, size_t records_max,
                   size_t *count);

/*
 * Call `visit` for each bucket, newest first, with its published counts. This
 * call publishes nothing, so its counts may be older than a snapshot's.
 *
 * context: as prof_heap_snapshot(); `visit` must not make control calls
 */
void prof_heap_iterate(struct prof *prof,
                       void (*visit)(void *context,
                                     const struct prof_heap_record *record),
                       void *context);

/* --------------------------------------------------------- heap, sampling
 *
 * To record only some allocations, an embedder calls prof_heap_sample() before
 * each. At a rate of R bytes, an allocation of S bytes is recorded with
 * probability 1 - exp(-S/R), as closely as the rules allow.
 *
 * An embedder that records every allocation sets the rate to 1, because readers
 * scale all records by the rate.
 */
#define PROF_HEAP_RATE_DEFAULT 524288 /* of a new instance, in bytes */

/*
 * Set the mean number of bytes from one recorded allocation to the next.
 *
 * in:      rate_bytes, 1 records all, 0 and less record none
 * context: any thread. Under PROF_SAMPLER_EXACT each bucket keeps the rate at
 *          which it was sampled, so earlier records stay right. An instance
 *          keeps 64 different rates above 1; further ones count as the 64th.
 */
void prof_heap_rate_set(struct prof *prof, int64_t rate_bytes);
int64_t prof_heap_rate(const struct prof *prof);

/*
 * Decide whether to record an allocation. Call it exactly once for every
 * allocation: it subtracts the size from the bytes left until the next sample.
 *
 * returns: true if the processor's next prof_heap_alloc() must record it
 * context: as prof_heap_alloc()
 */
bool prof_heap_sample(struct prof_proc *proc, uint64_t size_bytes);

/*
 * Let the embedder do that subtraction itself, without a call per allocation.
 * It takes the number of bytes until the next sample and keeps it, say in
 * thread-local memory. From this number it subtracts the size of each smaller
 * allocation, without calling prof_heap_sample(). Before any other allocation
 * it gives back what is left and calls prof_heap_sample(). It also gives back
 * what is left before the processor serves another thread.
 *
 * returns: the number of bytes. 0: call prof_heap_sample() and give nothing
 *          back (the rate is below 2 or has changed, or the rules examine each
 *          allocation)
 * in:      until_bytes, what is left, above 0
 * context: as prof_heap_alloc(). A new rate takes effect at the next
 *          prof_heap_sample().
 */
uint64_t prof_heap_until_take(const struct prof_proc *proc);
void prof_heap_until_give(struct prof_proc *proc, uint64_t until_bytes);

/* Objects and their bytes, as recorded or as estimated. */
struct prof_heap_sum {
    int64_t objects;
    int64_t bytes;
};

/*
 * Estimate what was allocated from what was recorded: divide objects and bytes
 * by 1 - exp(-S/R), where S is the mean size and R the rate. The estimate is
 * unbiased for a sum of one bucket, but not for a sum of several sizes.
 *
 * in:      rate_bytes, at which the allocations were sampled; 1 or less leaves
 *          the sum unchanged
 * returns: the estimate, rounded towards zero under Go's rules, else to the
 *          nearest
 */
struct prof_heap_sum prof_heap_unsample(const struct prof_rules *rules,
                                        struct prof_heap_sum recorded,
                                        int64_t rate_bytes);

/* ----------------------------------------------------------------- contention
 *
 * A new instance records every event once (rate 1). At a larger rate it keeps
 * only some events, and scales each up, as its rules say, to stand for those
 * left out. It scales when it records, so a change of the rate does not affect
 * earlier records (except under PROF_MUTEX_UNSCALED, where the reader must
 * multiply). docs/sampling.md has the formulas.
 */
enum prof_contention {
    PROF_BLOCK, /* charged to the waiter */
    PROF_MUTEX  /* charged to the releaser */
};

/*
 * Record one block event per `rate_ns` of waiting, on average.
 *
 * in:      rate_ns, 1 records all, 0 and less record none; converted to ticks
 *          by config.ticks_per_second
 * context: any thread
 */
void prof_block_rate_set(struct prof *prof, int64_t rate_ns);

/* returns: the rate in ticks; 1 records all, 0 and less none */
int64_t prof_block_rate_ticks(const struct prof *prof);

/*
 * Record one mutex event in `fraction`, on average.
 *
 * in:      fraction, 1 records all, 0 none; a negative one changes nothing
 * returns: the old fraction
 * context: any thread
 */
int64_t prof_mutex_fraction_set(struct prof *prof, int64_t fraction);

/*
 * returns: the factor for mutex records, for the writers of prof/pprof.h and
 *          prof/text.h: 1 under rules that scale while recording. Under
 *          PROF_MUTEX_UNSCALED it is the fraction, or the last one above 0 if
 *          profiling is off. Such records do not store their fraction, so the
 *          factor also applies to those made under earlier fractions.
 */
uint64_t prof_mutex_period(const struct prof *prof);

/*
 * Record an event, or leave it out, as the rate decides.
 *
 * in:      cycles, the length of the wait in clock ticks, negative if the clock
 *          ran backwards. A block event counts at least 1 tick, a mutex event
 *          at least 0.
 * context: any thread, signal handlers included
 */
void prof_contention_event(struct prof_proc *proc, enum prof_contention kind,
                           const uintptr_t *stack, uint32_t depth,
                           int64_t cycles);

/*
 * Compute the ticks to charge to a release that others wait for, for
 * prof_contention_event().
 *
 * in:      first_cycles, ticks that the thread that gets the lock has waited,
 *          counted from the last charged release if there was one
 *          last_cycles, the same for the thread that began to wait last
 *          others, the number of threads that go on waiting
 * returns: under PROF_WAITERS_FIRST first_cycles. Under PROF_WAITERS_ALL that
 *          plus, for each of the others, the mean of first_cycles and
 *          last_cycles; saturates
 */
int64_t prof_mutex_cycles(const struct prof *prof, int64_t first_cycles,
                          int64_t last_cycles, uint32_t others);

/* One bucket of a contention snapshot. */
struct prof_contention_record {
    uint64_t count;  /* estimated events; at least 1 in a block profile under
                        PROF_BLOCK_CORRECTED */
    uint64_t cycles; /* ticks of all of them */
    const uintptr_t *stack;
    uint32_t depth;
};

/*
 * Read a contention profile, newest bucket first; cumulative, never cleared.
 *
 * out, in, returns, context: as prof_heap_snapshot()
 */
PROF_NODISCARD enum prof_status
prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                         struct prof_contention_record *records,
                         size_t records_max, size_t *count);

/* ---- totals ---- */

/* Events that were not recorded, by cause. */
struct prof_drops {
    uint64_t no_bucket;    /* buckets_max reached, event of a new stack */
    uint64_t no_frames;    /* frames_max reached, event of a new stack */
    uint64_t no_free_path; /* explicit free under rules without that path */
    uint64_t no_mutex;     /* mutex event under rules without that profile */
};

/* context: any thread */
struct prof_drops prof_drops(const struct prof *prof);

/* Heap events of all buckets, published and pending. */
struct prof_heap_totals {
    uint64_t allocs_published;
    uint64_t frees_published;
    uint64_t allocs_pending; /* in the slots of this and the coming cycles */
    uint64_t frees_pending;
};

/* context: as prof_heap_snapshot() */
struct prof_heap_totals prof_heap_totals(struct prof *prof);

/*
 * Check the invariants of the instance.
 *
 * returns: NULL if all hold, else the name of the first broken one, such as
 *          "table I3": invariant I3 of table.c
 * context: no other call in flight
 */
const char *prof_check(const struct prof *prof);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
