/*
 * bucket.h -- which bucket an event belongs to, and which events are dropped.
 */
#ifndef MODEL_HEAP_BUCKET_H
#define MODEL_HEAP_BUCKET_H

#include "model/heap/heap.h"

#define MODEL_BUCKET_NONE UINT32_MAX

struct model_seen;
struct model_seen_stack;

struct model_buckets {
    struct model_bucket *all; /* in order of creation */
    uint32_t count;
    uint32_t max;          /* for which there is memory */
    uint64_t frames_count; /* of all buckets */
    struct model_drops drops;
    uint64_t rate_bytes; /* at which later heap events are sampled */

    uint64_t run; /* number of resets; a new run empties `seen_stacks` at
                     once */
    struct model_seen_stack *seen_stacks;
    struct model_seen *seen;
    uint32_t seen_count;
    uint32_t seen_max;
};

/* returns: false if there is not enough memory; delete all the same */
bool model_buckets_new(struct model_buckets *buckets, uint32_t buckets_max,
                       uint32_t entries_max);
void model_buckets_delete(struct model_buckets *buckets);

/* Begin a run: there is no bucket yet. */
void model_buckets_reset(struct model_buckets *buckets);

/*
 * Find the bucket of an event, or create it.
 *
 * in:      stack, its number in the log
 * returns: the bucket; MODEL_BUCKET_NONE if the event is dropped, which is
 *          counted by cause
 */
uint32_t model_buckets_of(struct model_buckets *buckets,
                          const struct model_limits *limits,
                          const struct truth_log *log,
                          enum model_bucket_kind kind, uint32_t stack,
                          uint64_t size_bytes);

#endif
