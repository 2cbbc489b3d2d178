/*
 * bucket.c -- which bucket an event belongs to, and which events are dropped.
 *
 * A bucket has one kind, one size, and one stack, cut to depth_max frames from
 * the leaf. It is found by a linear search, which is enough for generated
 * worlds with their few buckets. Real programs have thousands, so results are
 * cached for each stack of the log. Cached results stay valid: buckets are
 * never removed, and a key for which there was no room once will never fit,
 * since room only shrinks (only the cause of the drop may change).
 */
#include "model/heap/bucket.h"

#include <stdlib.h>

#include "model/model_assert.h"

#define NONE MODEL_BUCKET_NONE

/* What became of a (stack, kind, size) that was seen before. */
struct model_seen {
    uint64_t size_bytes;
    uint64_t rate_bytes;
    enum model_bucket_kind kind;
    uint32_t bucket; /* NONE: refused */
    uint32_t next;   /* of the same stack; NONE ends */
};

struct model_seen_stack {
    uint64_t run; /* the run in which `first` was set */
    uint32_t first;
};

bool
model_buckets_new(struct model_buckets *buckets, uint32_t buckets_max,
                  uint32_t entries_max)
{
    const size_t all = (size_t)buckets_max + 1;
    const size_t seen = (size_t)entries_max + 1;

    *buckets = (struct model_buckets){
        .max = buckets_max,
        .seen_max = entries_max,
        .all = malloc(all * sizeof *buckets->all),
        .seen = malloc(seen * sizeof *buckets->seen),
        .seen_stacks = calloc(seen, sizeof *buckets->seen_stacks),
    };
    return buckets->all != NULL && buckets->seen != NULL &&
           buckets->seen_stacks != NULL;
}

void
model_buckets_delete(struct model_buckets *buckets)
{
    free(buckets->all);
    free(buckets->seen);
    free(buckets->seen_stacks);
}

void
model_buckets_reset(struct model_buckets *buckets)
{
    buckets->count = 0;
    buckets->frames_count = 0;
    buckets->drops = (struct model_drops){0};
    buckets->run++;
    buckets->seen_count = 0;
    buckets->rate_bytes = 0;
}

static bool
is_same(const struct model_bucket *bucket, const struct model_bucket *wanted)
{
    if (bucket->kind != wanted->kind ||
        bucket->size_bytes != wanted->size_bytes ||
        bucket->rate_bytes != wanted->rate_bytes ||
        bucket->depth != wanted->depth)
        return false;
    for (uint32_t i = 0; i < wanted->depth; i++)
        if (bucket->frames[i] != wanted->frames[i])
            return false;
    return true;
}

/* Find the bucket with that key, or create it; NONE if there is no room. */
static uint32_t
search(struct model_buckets *buckets, const struct model_limits *limits,
       const struct model_bucket *wanted)
{
    for (uint32_t i = 0; i < buckets->count; i++)
        if (is_same(&buckets->all[i], wanted))
            return i;
    if (buckets->count >= limits->buckets_max ||
        wanted->depth > limits->frames_max - buckets->frames_count)
        return NONE;

    MODEL_ASSERT(buckets->count < buckets->max);
    buckets->all[buckets->count] = *wanted;
    buckets->frames_count += wanted->depth;
    return buckets->count++;
}

/* Find or create the bucket, with a search only for a new stack and size. */
static uint32_t
recall(struct model_buckets *buckets, const struct model_limits *limits,
       const struct model_bucket *wanted, uint32_t stack)
{
    struct model_seen_stack *head;
    uint32_t bucket;

    if (stack >= buckets->seen_max)
        return search(buckets, limits, wanted);
    head = &buckets->seen_stacks[stack];
    if (head->run != buckets->run)
        *head = (struct model_seen_stack){.run = buckets->run, .first = NONE};
    for (uint32_t i = head->first; i != NONE; i = buckets->seen[i].next)
        if (buckets->seen[i].kind == wanted->kind &&
            buckets->seen[i].size_bytes == wanted->size_bytes &&
            buckets->seen[i].rate_bytes == wanted->rate_bytes)
            return buckets->seen[i].bucket;

    bucket = search(buckets, limits, wanted);
    MODEL_ASSERT(buckets->seen_count < buckets->seen_max);
    buckets->seen[buckets->seen_count] = (struct model_seen){
        .size_bytes = wanted->size_bytes,
        .rate_bytes = wanted->rate_bytes,
        .kind = wanted->kind,
        .bucket = bucket,
        .next = head->first,
    };
    head->first = buckets->seen_count++;
    return bucket;
}

uint32_t
model_buckets_of(struct model_buckets *buckets,
                 const struct model_limits *limits, const struct truth_log *log,
                 enum model_bucket_kind kind, uint32_t stack,
                 uint64_t size_bytes)
{
    struct model_bucket wanted = {
        .kind = kind,
        .size_bytes = size_bytes,
        .rate_bytes = kind == MODEL_HEAP ? buckets->rate_bytes : 0,
    };
    uint32_t bucket;

    MODEL_ASSERT(stack < log->stacks_count);
    wanted.frames = log->stacks[stack].frames;
    wanted.depth = log->stacks[stack].depth;
    if (wanted.depth > limits->depth_max)
        wanted.depth = limits->depth_max;

    bucket = recall(buckets, limits, &wanted, stack);
    if (bucket == NONE) {
        if (buckets->count >= limits->buckets_max)
            buckets->drops.no_bucket++;
        else
            buckets->drops.no_frames++;
    }
    return bucket;
}
