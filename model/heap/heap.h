/*
 * heap.h -- the oracle of the heap and contention profiles: what a snapshot
 * must show, derived from the truth log alone.
 *
 * Two independent oracles:
 *   - the *publication* oracle follows every event from recording to
 *     publication, and predicts a snapshot exactly: which buckets, in which
 *     order, with which counts, under every fault;
 *   - the *heap* oracle knows nothing of publication: it derives, as a set of
 *     objects, the heap that a snapshot must equal: that at mark termination k.
 * The second learns one thing from the first: which snapshot was the first.
 */
#ifndef MODEL_HEAP_HEAP_H
#define MODEL_HEAP_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/heap/contention.h"
#include "sim/truth/truth.h"

/* The accounting scheme that the library was configured with. */
enum model_scheme {
    MODEL_RING,  /* snapshots show allocations after 2 cycles, sweep frees after
                    1 */
    MODEL_STAGES /* two stages, rotated in the stopped world */
};

struct model_limits {
    enum model_scheme scheme;
    bool explicit_free_dropped; /* explicit frees are not counted at all */
    bool sizing_consumes_first; /* a snapshot that is too short counts as the
                                   first */
    uint32_t depth_max;         /* frames kept of a stack */
    uint32_t buckets_max;
    uint64_t frames_max; /* frames of all buckets together */
    enum model_era era;  /* of contention and of random numbers */
    uint64_t seed;
    uint64_t ticks_per_second;
    bool waiters_all;               /* a release is charged with all waits */
    bool unheard[TRUTH_KIND_COUNT]; /* facts that the library is not told */
};

enum model_bucket_kind { MODEL_HEAP, MODEL_BLOCK, MODEL_MUTEX };

/* A bucket: one kind, size and cut stack, numbered in order of creation.
 */
struct model_bucket {
    enum model_bucket_kind kind;
    uint64_t size_bytes;
    uint64_t rate_bytes;     /* at which it is sampled; 0: not kept per
                                bucket */
    const uintptr_t *frames; /* leaf first; owned by the world */
    uint32_t depth;          /* after the cut */

    uint64_t allocs; /* published; or the number of contention events */
    uint64_t frees;  /* published */
    uint64_t cycles; /* contention only */
    bool by_locks;   /* has waits for simulated locks */
    bool outlived;   /* has had no event since a rate was last set */
    double events;   /* the number of contention events as a double, if it may
                        be fractional */
    uint64_t allocs_pending;
    uint64_t frees_pending;

    /* As of the last call of model_heap_at(). */
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
 * in:      objects_max, buckets_max, entries_max: the limits of a log. All
 *          memory is allocated here. A larger log is a bug of the caller and
 *          traps.
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

/* returns: the rates, and the state that each processor's generator must
 * have */
const struct model_contention *
model_heap_contention(const struct model_heap *model);

/* The phase that the library must be in: next_cycle calls so far, and whether
 * the cycle was flushed. */
uint64_t model_heap_cycles(const struct model_heap *model);
bool model_heap_flushed(const struct model_heap *model);

/*
 * What the last TRUTH_SNAPSHOT (or _BLOCK_, _MUTEX_, ITERATE) must return. The
 * contention snapshots and ITERATE have no filter; ITERATE has no buffer, so it
 * always fits.
 */
struct model_answer {
    uint32_t count; /* buckets to list */
    bool fits;      /* count <= room */
    bool first;     /* the first-snapshot rule published something */
    bool all;       /* also lists buckets with 0 bytes in use */
};
struct model_answer model_heap_answer(const struct model_heap *model);

/*
 * Ask the heap oracle about the last TRUTH_SNAPSHOT: find k, and fill in
 * allocs_then and frees_then of every heap bucket.
 *
 * out:     *k, the mark termination whose heap the snapshot must equal
 * returns: false if the snapshot cannot equal that heap, because the collector
 *          broke a precondition (a missing flush, an object not swept in time)
 *          and the effect still lasts. This is exact: a correct library
 *          publishes allocs_then and frees_then if, and only if, the result is
 *          true.
 */
bool model_heap_at(struct model_heap *model, uint32_t *k);

#endif
