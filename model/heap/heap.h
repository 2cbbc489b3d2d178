/*
 * heap.h -- the oracle of the heap and contention profiles: what a snapshot
 * must show, derived from the truth log alone.
 *
 * Two independent oracles:
 *   - the *publication* oracle follows every event from being recorded to being
 *     published, and predicts a snapshot exactly: which buckets, in which
 *     order, with which numbers, under every fault;
 *   - the *heap* oracle knows nothing of publication: it says which heap a
 *     snapshot must equal, the one at mark termination k, as a set of objects.
 * The second learns one thing from the first: which snapshot was the first.
 */
#ifndef MODEL_HEAP_H
#define MODEL_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "contention.h"
#include "truth.h"

/* The scheme of accounting that the library was told to follow. */
enum model_scheme {
    MODEL_RING,  /* allocations show after 2 cycles, sweep frees after 1 */
    MODEL_STAGES /* two stages, rotated in the stopped world */
};

struct model_limits {
    enum model_scheme scheme;
    bool explicit_free_dropped; /* explicit frees are not counted at all */
    bool sizing_consumes_first; /* a short snapshot uses up the first-snapshot
                                   rule */
    uint32_t depth_max;         /* frames kept of a stack */
    uint32_t buckets_max;
    uint64_t frames_max; /* frames of all buckets together */
    enum model_era era;  /* of contention and of random numbers */
    uint64_t seed;
    uint64_t ticks_per_second;
    bool waiters_all; /* a release is charged for all that wait */
};

enum model_bucket_kind { MODEL_HEAP, MODEL_BLOCK, MODEL_MUTEX };

/* A bucket: one kind, size and cut stack, numbered in order of creation.
 */
struct model_bucket {
    enum model_bucket_kind kind;
    uint64_t size_bytes;
    uint64_t rate_bytes;     /* that it is sampled at; 0: buckets do not say */
    const uintptr_t *frames; /* leaf first; the world's */
    uint32_t depth;          /* after the cut */

    uint64_t allocs; /* published, or count of contention events */
    uint64_t frees;  /* published */
    uint64_t cycles; /* contention only */
    bool by_locks;   /* holds waits for simulated locks */
    bool outlived;   /* nothing was added since a rate was set */
    double events;   /* the count of contention events, if it is not whole */
    uint64_t allocs_pending;
    uint64_t frees_pending;

    /* Kept by model_heap_at(), as of its last call. */
    uint64_t allocs_then;
    uint64_t frees_then;
};

/* Events that the library must have dropped, by cause. */
struct model_drops {
    uint64_t no_bucket;
    uint64_t no_frames;
    uint64_t no_free_path;
    uint64_t no_mutex;
};

/* Sums over all heap buckets. */
struct model_sum {
    uint64_t allocs; /* published */
    uint64_t frees;
    uint64_t allocs_pending;
    uint64_t frees_pending;
    uint64_t bytes;      /* published and in use; may wrap */
    uint64_t bytes_then; /* in use as of the last model_heap_at() */
};

struct model_heap;

/*
 * in:      objects_max, buckets_max, entries_max: how large a log may become;
 *          all memory is allocated once. A larger log is a bug of the caller
 *          and traps.
 * returns: NULL if there is not enough memory
 */
struct model_heap *model_heap_new(uint32_t objects_max, uint32_t buckets_max,
                                  uint32_t entries_max);
void model_heap_delete(struct model_heap *model);

/* Begin a run. */
void model_heap_reset(struct model_heap *model,
                      const struct model_limits *limits,
                      const struct truth_log *log);

/* Read what was appended to the log since the last call. */
void model_heap_feed(struct model_heap *model);

/* The buckets, oldest first. A snapshot lists them newest first. */
const struct model_bucket *model_heap_buckets(const struct model_heap *model,
                                              uint32_t *count);

const struct model_sum *model_heap_sum(const struct model_heap *model);

struct model_drops model_heap_drops(const struct model_heap *model);

/* Rates, and the state that each processor's random numbers must have. */
const struct model_contention *
model_heap_contention(const struct model_heap *model);

/* The library's own phase: next_cycle calls so far, and flushed since? */
uint64_t model_heap_cycles(const struct model_heap *model);
bool model_heap_flushed(const struct model_heap *model);

/*
 * What the last TRUTH_SNAPSHOT (or _BLOCK_, _MUTEX_, ITERATE) must return.
 * The last two kinds have no filter, and ITERATE has no room: it always fits.
 */
struct model_answer {
    uint32_t count; /* buckets to list */
    bool fits;      /* count <= room */
    bool first;     /* the first-snapshot rule published something */
    bool all;       /* lists also buckets whose bytes in use are 0 */
};
struct model_answer model_heap_answer(const struct model_heap *model);

/*
 * The heap oracle, for the snapshot whose TRUTH_SNAPSHOT was fed last: find k
 * and fill allocs_then and frees_then of every heap bucket.
 *
 * out:     *k, the mark termination whose heap the snapshot must equal
 * returns: false if the snapshot cannot equal that heap, because the collector
 *          broke a precondition (a missing flush, an object not swept in time)
 *          and the effect is not over. This is exact: a correct library
 *          publishes allocs_then and frees_then if, and only if, the result is
 *          true.
 */
bool model_heap_at(struct model_heap *model, uint32_t *k);

#endif
