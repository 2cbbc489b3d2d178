/*
 * judge_answer.c -- compare a snapshot with the model's buckets.
 *
 * First every record is matched with the model's bucket of the same identity;
 * then the numbers of each bucket are compared with both oracles; last, the
 * order. So one wrong record does not make all later ones look wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/instruments/guard.h"
#include "props/judge/judge_internal.h"

/* A record of an answer, of any profile. */
struct seen {
    uint64_t a; /* allocs, or count */
    uint64_t b; /* frees, or cycles */
    uint64_t size_bytes;
    uint64_t rate_bytes; /* of a heap record */
    const uintptr_t *stack;
    uint32_t depth;
};

static struct seen
seen_at(const struct sim_answer *answer, bool heap, size_t index)
{
    if (heap) {
        const struct prof_heap_record *r = &answer->heap[index];

        return (struct seen){r->allocs,     r->frees,
                             r->size_bytes, (uint64_t)r->rate_bytes,
                             r->stack,      r->depth};
    } else {
        const struct prof_contention_record *r = &answer->contention[index];

        return (struct seen){r->count, r->cycles, 0, 0, r->stack, r->depth};
    }
}

static bool
is_bucket(const struct seen *seen, const struct model_bucket *bucket)
{
    if (seen->size_bytes != bucket->size_bytes ||
        seen->depth != bucket->depth ||
        (bucket->rate_bytes != 0 && seen->rate_bytes != bucket->rate_bytes))
        return false;
    for (uint32_t i = 0; i < seen->depth; i++)
        if (seen->stack[i] != bucket->frames[i])
            return false;
    return true;
}

static enum model_bucket_kind
kind_read(enum sim_event_kind kind)
{
    if (kind == SIM_EV_BLOCK_SNAPSHOT)
        return MODEL_BLOCK;
    return kind == SIM_EV_MUTEX_SNAPSHOT ? MODEL_MUTEX : MODEL_HEAP;
}

/* Does the answer include heap buckets of which nothing is in use? */
static bool
lists_all(const struct props_judge *judge, enum model_bucket_kind kind)
{
    return kind != MODEL_HEAP || model_heap_answer(judge->model).all;
}

static bool
must_list(const struct model_bucket *bucket, enum model_bucket_kind kind,
          bool all)
{
    const bool inuse =
        (bucket->allocs - bucket->frees) * bucket->size_bytes != 0;

    return (bucket->kind == kind) &
           (all | inuse); /* without a branch, as in hit_if() */
}

/* Describe a bucket: its first frame and depth, and a heap bucket's size. */
static const char *
name_of(char *text, size_t text_bytes, const uintptr_t *frames, uint32_t depth,
        uint64_t size_bytes)
{
    char size[32] = "";

    if (size_bytes > 0)
        snprintf(size, sizeof size, ", size %" PRIu64, size_bytes);
    snprintf(text, text_bytes,
             "bucket (stack 0x%" PRIxPTR "%s, %" PRIu32 " frame%s%s)",
             depth > 0 ? frames[0] : 0, depth > 1 ? ".." : "", depth,
             depth == 1 ? "" : "s", size);
    return text;
}

/* ---- numbers ---- */

static enum props_property
property_of_numbers(const struct props_judge *judge, bool differs_from_heap)
{
    if (sim_world_answer(judge->world)->kind != SIM_EV_ITERATE &&
        model_heap_answer(judge->model).first)
        return PROPS_H7;
    if (judge_near_wrap(judge))
        return PROPS_H6;
    return differs_from_heap ? PROPS_H1 : PROPS_H5;
}

/* Compare one heap bucket with both oracles. */
static void
judge_heap_numbers(struct props_judge *judge, const struct seen *seen,
                   const struct model_bucket *bucket, bool oracle, uint32_t k)
{
    const bool wrong_heap = oracle && (seen->a != bucket->allocs_then ||
                                       seen->b != bucket->frees_then);
    char name[96];

    judge_hash(judge, seen->a ^ seen->b << 32);
    if (!wrong_heap && seen->a == bucket->allocs && seen->b == bucket->frees)
        return;
    name_of(name, sizeof name, bucket->frames, bucket->depth,
            bucket->size_bytes);
    if (oracle && (int64_t)(seen->a - seen->b) < 0)
        judge_breach(judge, PROPS_H2,
                     "%s shows %" PRIu64 " allocations and %" PRIu64
                     " frees; at mark termination %" PRIu32 " it was %" PRIu64
                     " and %" PRIu64,
                     name, seen->a, seen->b, k, bucket->allocs_then,
                     bucket->frees_then);
    if (wrong_heap)
        judge_breach(judge, property_of_numbers(judge, true),
                     "%s shows %" PRIu64 " allocations and %" PRIu64
                     " frees; at mark termination %" PRIu32 " it was %" PRIu64
                     " and %" PRIu64,
                     name, seen->a, seen->b, k, bucket->allocs_then,
                     bucket->frees_then);
    else
        judge_breach(judge, property_of_numbers(judge, false),
                     "%s shows %" PRIu64 " allocations and %" PRIu64
                     " frees, expected %" PRIu64 " and %" PRIu64,
                     name, seen->a, seen->b, bucket->allocs, bucket->frees);
}

/* returns: the property that a wrong number of a contention bucket breaks */
static enum props_property
property_of_contention(const struct props_judge *judge,
                       const struct model_bucket *bucket)
{
    const bool block = bucket->kind == MODEL_BLOCK;

    if (!model_heap_contention(judge->model)->sampled) {
        if (!bucket->by_locks)
            return PROPS_C3;
        return block ? PROPS_C1 : PROPS_C2;
    }
    if (bucket->outlived)
        return PROPS_S4;
    return block ? PROPS_S2 : PROPS_S3;
}

static void
judge_contention_numbers(struct props_judge *judge, const struct seen *seen,
                         const struct model_bucket *bucket)
{
    char name[96];

    judge_hash(judge, seen->a ^ seen->b << 32);
    if (seen->a != bucket->allocs || seen->b != bucket->cycles)
        judge_breach(judge, property_of_contention(judge, bucket),
                     "%s shows %" PRIu64 " events of %" PRIu64
                     " ticks, expected %" PRIu64 " of %" PRIu64,
                     name_of(name, sizeof name, bucket->frames, bucket->depth,
                             bucket->size_bytes),
                     seen->a, seen->b, bucket->allocs, bucket->cycles);
}

/* ---- identity ---- */

/* Every record must belong to a bucket of the model, and no bucket may come
 * twice. */
static void
judge_identity(struct props_judge *judge, const struct seen *seen, size_t index,
               enum model_bucket_kind kind)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    uint32_t count;
    const struct model_bucket *buckets =
        model_heap_buckets(judge->model, &count);
    bool known = false;
    char name[96];

    for (uint32_t i = 0; i < count && !known; i++)
        known = buckets[i].kind == kind && is_bucket(seen, &buckets[i]);
    if (!known)
        judge_breach(judge, PROPS_B1, "%s is listed, but nothing was recorded",
                     name_of(name, sizeof name, seen->stack, seen->depth,
                             seen->size_bytes));
    for (size_t i = 0; i < index; i++) {
        const struct seen other = seen_at(answer, kind == MODEL_HEAP, i);

        if (other.stack == seen->stack &&
            other.size_bytes == seen->size_bytes && other.depth == seen->depth)
            judge_breach(judge, PROPS_B2, "%s is listed twice",
                         name_of(name, sizeof name, seen->stack, seen->depth,
                                 seen->size_bytes));
    }
}

/* Find the bucket in the answer; look at `hint` first. */
static bool
find_seen(const struct sim_answer *answer, const struct model_bucket *bucket,
          size_t hint, struct seen *seen, size_t *at)
{
    for (size_t i = 0; i < answer->count; i++) {
        *at = (hint + i) % answer->count;
        *seen = seen_at(answer, bucket->kind == MODEL_HEAP, *at);
        if (is_bucket(seen, bucket))
            return true;
    }
    return false;
}

/* Does the answer list the right buckets, apart from their numbers? */
static bool
is_in_order(const struct props_judge *judge, enum model_bucket_kind kind)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const bool all = lists_all(judge, kind);
    uint32_t count;
    const struct model_bucket *buckets =
        model_heap_buckets(judge->model, &count);
    size_t index = 0;

    for (uint32_t i = count; i-- > 0;) {
        struct seen seen;

        if (!must_list(&buckets[i], kind, all))
            continue;
        if (index == answer->count)
            return false;
        seen = seen_at(answer, kind == MODEL_HEAP, index);
        if (!is_bucket(&seen, &buckets[i]))
            return false;
        index++;
    }
    return index == answer->count;
}

/* Compare the bytes of the whole answer with the sizes of the objects (H3). */
static void
judge_bytes(struct props_judge *judge, bool oracle)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const struct model_sum *sum = model_heap_sum(judge->model);
    const uint64_t expected = oracle ? sum->bytes_then : sum->bytes;
    uint64_t got = 0;

    for (size_t i = 0; i < answer->count; i++)
        got += prof_heap_alloc_bytes(&answer->heap[i]) -
               prof_heap_free_bytes(&answer->heap[i]);
    if (got != expected)
        judge_breach(judge, PROPS_H3,
                     "%" PRId64 " bytes in use in all, expected %" PRId64,
                     (int64_t)got, (int64_t)expected);
}

/* ---- the listing ---- */

/* How a snapshot is judged. */
struct listing {
    enum model_bucket_kind kind;
    bool all;    /* buckets without events are listed, too */
    bool search; /* not every bucket is at its index */
    bool oracle; /* the heap at mark termination k gives the numbers */
    uint32_t k;
};

static void
judge_numbers(struct props_judge *judge, const struct listing *listing,
              const struct seen *seen, const struct model_bucket *bucket)
{
    if (listing->kind == MODEL_HEAP)
        judge_heap_numbers(judge, seen, bucket, listing->oracle, listing->k);
    else
        judge_contention_numbers(judge, seen, bucket);
}

/*
 * Find a bucket in the answer and judge its numbers. If listing->search is
 * false, the answer is known to list the right buckets in the right order.
 *
 * in:      index, where the bucket should be
 * out:     *at, where it is
 * returns: whether it is listed
 */
static bool
match(struct props_judge *judge, const struct listing *listing,
      const struct model_bucket *bucket, size_t index, size_t *at)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    struct seen seen;

    *at = index;
    if (listing->search) {
        if (bucket->kind != listing->kind ||
            !find_seen(answer, bucket, index, &seen, at))
            return false;
    } else {
        if (!must_list(bucket, listing->kind, listing->all))
            return false;
        seen = seen_at(answer, listing->kind == MODEL_HEAP, index);
    }
    judge_numbers(judge, listing, &seen, bucket);
    return true;
}

/* Go through the buckets from the newest, and check numbers, presence and
 * order. */
static void
judge_listing(struct props_judge *judge, const struct listing *listing)
{
    uint32_t count;
    const struct model_bucket *buckets =
        model_heap_buckets(judge->model, &count);
    size_t index = 0;
    char name[96];

    for (uint32_t i = count; i-- > 0;) {
        const struct model_bucket *bucket = &buckets[i];
        size_t at;
        const bool listed = match(judge, listing, bucket, index, &at);

        if (listed != must_list(bucket, listing->kind, listing->all)) {
            judge_breach(
                judge,
                listing->all ? PROPS_B1
                             : property_of_numbers(judge, listing->oracle),
                "%s is %s be",
                name_of(name, sizeof name, bucket->frames, bucket->depth,
                        bucket->size_bytes),
                listed ? "listed, but must not" : "not listed, but must");
            continue;
        }
        if (listed && at != index)
            judge_breach(judge, PROPS_B2,
                         "%s is listed as number %zu, expected %zu",
                         name_of(name, sizeof name, bucket->frames,
                                 bucket->depth, bucket->size_bytes),
                         at + 1, index + 1);
        index += listed;
    }
}

static bool
judge_status(struct props_judge *judge)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const struct model_answer expected = model_heap_answer(judge->model);
    const enum prof_status status = expected.fits ? PROF_OK : PROF_ERR_SHORT;

    judge_hash(judge, answer->count ^ (uint64_t)answer->status << 32);
    if (sim_touched_beyond(answer))
        judge_breach(judge, PROPS_H8,
                     "the call wrote where it had nothing to write");
    if (answer->count != expected.count && expected.fits)
        judge_breach(judge, PROPS_B1, "%zu buckets to list, expected %" PRIu32,
                     answer->count, expected.count);
    /* If the wrong events are published, the count follows them. */
    else if (answer->count != expected.count &&
             (judge->breach.broken & PROPS_BIT(PROPS_H5)) == 0)
        judge_breach(judge, PROPS_H8, "%zu buckets to list, expected %" PRIu32,
                     answer->count, expected.count);
    if (answer->status != status)
        judge_breach(judge, PROPS_H8, "the call returns: %s; expected: %s",
                     prof_status_text(answer->status),
                     prof_status_text(status));
    return answer->status == PROF_OK && status == PROF_OK;
}

void
judge_answer(struct props_judge *judge)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const enum model_bucket_kind kind = kind_read(answer->kind);
    struct listing listing = {.kind = kind, .all = lists_all(judge, kind)};

    if (!judge_status(judge))
        return;
    if (kind == MODEL_HEAP && answer->kind != SIM_EV_ITERATE) {
        listing.oracle = model_heap_at(judge->model, &listing.k);
        judge_bytes(judge, listing.oracle);
    }
    if (listing.oracle)
        props_cover_hit(judge->cover, COVER_SNAPSHOT_JUDGED_BY_HEAP);
    listing.search = !is_in_order(judge, kind);
    if (listing.search) {
        for (size_t i = 0; i < answer->count; i++) {
            const struct seen seen = seen_at(answer, kind == MODEL_HEAP, i);

            judge_identity(judge, &seen, i, kind);
        }
    }
    judge_listing(judge, &listing);
}
