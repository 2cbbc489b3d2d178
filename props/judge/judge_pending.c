/*
 * judge_pending.c -- L1: at its end a run collects three times without faults;
 * then everything must be published. If not, the report says which event is
 * pending, and for which flush.
 *
 * Why three collections are enough: the program drops no object after the first
 * of them has begun. So its marking finds the last dead object, and its sweep
 * reports the last free. An event of cycle c is published by the flush of cycle
 * c + 2 at the latest, and each collection flushes once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/judge/judge_internal.h"

struct counts {
    uint64_t allocs;
    uint64_t frees;
};

/* Sum up all events of heap buckets. */
static struct counts
happened(const struct model_bucket *buckets, uint32_t count)
{
    struct counts sum = {0, 0};

    for (uint32_t i = 0; i < count; i++) {
        if (buckets[i].kind != MODEL_HEAP)
            continue;
        sum.allocs += buckets[i].allocs + buckets[i].allocs_pending;
        sum.frees += buckets[i].frees + buckets[i].frees_pending;
    }
    return sum;
}

/* Sum up what a bucket shows now. */
static struct counts
shown(const struct sim_answer *answer, const struct model_bucket *bucket)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct prof_heap_record *r = &answer->heap[i];

        if (r->size_bytes == bucket->size_bytes && r->depth == bucket->depth &&
            (bucket->rate_bytes == 0 ||
             (uint64_t)r->rate_bytes == bucket->rate_bytes) &&
            (r->depth == 0 || memcmp(r->stack, bucket->frames,
                                     r->depth * sizeof *r->stack) == 0))
            return (struct counts){r->allocs, r->frees};
    }
    return (struct counts){0, 0};
}

/* Report the first bucket that shows fewer events than it had. */
static void
name_bucket(struct props_judge *judge, const struct model_bucket *buckets,
            uint32_t count, char *text, size_t text_bytes)
{
    const struct sim_event look = {.kind = SIM_EV_ITERATE};
    const struct sim_answer *answer = sim_world_answer(judge->world);

    snprintf(text, text_bytes, "no bucket shows it");
    if (sim_world_apply(judge->world, &look) != NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct counts want = happened(&buckets[i], 1);
        const struct counts got = shown(answer, &buckets[i]);

        if (want.allocs == got.allocs && want.frees == got.frees)
            continue;
        snprintf(text, text_bytes,
                 "the bucket of stack 0x%" PRIxPTR ", size %" PRIu64
                 " shows %" PRIu64 " of %" PRIu64 " allocations and %" PRIu64
                 " of %" PRIu64 " frees",
                 buckets[i].depth > 0 ? buckets[i].frames[0] : 0,
                 buckets[i].size_bytes, got.allocs, want.allocs, got.frees,
                 want.frees);
        return;
    }
}

void
judge_pending(struct props_judge *judge)
{
    struct prof *prof = sim_world_prof(judge->world);
    const struct prof_heap_totals got = prof_heap_totals(prof);
    const struct prof_heap_phase phase = prof_heap_phase(prof);
    uint32_t count;
    const struct model_bucket *buckets =
        model_heap_buckets(judge->model, &count);
    const struct counts want = happened(buckets, count);
    char bucket[256];

    if (got.allocs_pending == 0 && got.frees_pending == 0 &&
        got.allocs_published == want.allocs &&
        got.frees_published == want.frees)
        return;
    name_bucket(judge, buckets, count, bucket, sizeof bucket);
    judge_breach(judge, PROPS_L1,
                 "%" PRIu64 " allocations and %" PRIu64
                 " frees still wait for a flush, in cycle %" PRIu32
                 ", which is %sflushed; %s",
                 got.allocs_pending, got.frees_pending, phase.cycle,
                 phase.flushed ? "" : "not ", bucket);
}
