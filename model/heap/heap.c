/*
 * heap.c -- the publication oracle, and the public functions of the model.
 *
 * Let n be the number of next_cycle calls so far. When an event is recorded, it
 * gets the number of the cycle in which it becomes final:
 *
 *      allocation n+2   free by the sweeper n+1   explicit free n+2
 *
 * and then waits in the list `pending` until a call publishes it:
 *
 *                  ring                         stages
 *      next_cycle  -                            events final by now
 *      flush       events final in this cycle   -
 *      snapshot    events final in this cycle   -
 *      post_sweep  events final in the next     -
 *
 * Events that a ring did not publish in their cycle become due again every 3
 * cycles.
 */
#include "model/heap/heap.h"

#include <stdlib.h>

#include "model/heap/live_objects.h"
#include "model/heap/bucket.h"
#include "model/heap/heap_sampler.h"
#include "model/model_assert.h"
#include "model/heap/waits.h"

#define EVER UINT64_MAX /* a cycle that no run reaches */

struct event {      /* recorded, not yet published */
    uint64_t final; /* the cycle in which it becomes final */
    uint32_t bucket;
    bool free;
};

struct model_heap {
    struct model_limits limits;
    const struct truth_log *log;
    uint32_t entries_max;
    uint32_t fed; /* entries read */

    struct model_buckets buckets;
    struct model_live live;
    struct model_contention contention;
    struct model_waits waits;
    struct model_heap_sampler samplers[MODEL_PROCS_MAX];
    int64_t heap_rate;
    uint64_t no_free_path; /* dropped explicit frees */

    struct model_sum sum; /* over the buckets, always up to date */
    struct event *pending;
    uint32_t pending_count;
    uint64_t cycles; /* n */
    bool flushed;
    struct model_answer answer;
};

struct model_heap *
model_heap_new(uint32_t objects_max, uint32_t buckets_max, uint32_t entries_max)
{
    struct model_heap *model = calloc(1, sizeof *model);
    bool enough;

    if (model == NULL)
        return NULL;
    model->entries_max = entries_max;
    model->pending = malloc(((size_t)entries_max + 1) * sizeof *model->pending);
    enough = model->pending != NULL;
    enough &= model_buckets_new(&model->buckets, buckets_max, entries_max);
    enough &= model_live_new(&model->live, objects_max);
    if (!enough) {
        model_heap_delete(model);
        return NULL;
    }
    return model;
}

void
model_heap_delete(struct model_heap *model)
{
    if (model == NULL)
        return;
    model_buckets_delete(&model->buckets);
    model_live_delete(&model->live);
    free(model->pending);
    free(model);
}

/* Only under exact rules does a bucket keep its rate. */
static void
set_heap_rate(struct model_heap *model, int64_t rate)
{
    model->heap_rate = rate;
    if (model->limits.era == MODEL_EXACT)
        model->buckets.rate_bytes = rate > 1 ? (uint64_t)rate : 1;
}

void
model_heap_reset(struct model_heap *model, const struct model_limits *limits,
                 const struct truth_log *log)
{
    model->limits = *limits;
    model->log = log;
    model->fed = 0;
    model_buckets_reset(&model->buckets);
    model_live_reset(&model->live, limits->scheme);
    model_contention_reset(&model->contention, limits->era, limits->seed,
                           limits->ticks_per_second);
    model->waits.count = 0;
    set_heap_rate(model, 1);
    for (uint32_t i = 0; i < MODEL_PROCS_MAX; i++)
        model->samplers[i] = (struct model_heap_sampler){.era = limits->era};
    model->no_free_path = 0;
    model->sum = (struct model_sum){0};
    model->pending_count = 0;
    model->cycles = 0;
    model->flushed = false;
    model->answer = (struct model_answer){0};
}

/* ---- publication ---- */

static void
pending_add(struct model_heap *model, uint32_t bucket, bool free,
            uint64_t final)
{
    MODEL_ASSERT(model->pending_count < model->entries_max);
    model->pending[model->pending_count++] = (struct event){
        .final = final,
        .bucket = bucket,
        .free = free,
    };
    if (free) {
        model->buckets.all[bucket].frees_pending++;
        model->sum.frees_pending++;
    } else {
        model->buckets.all[bucket].allocs_pending++;
        model->sum.allocs_pending++;
    }
}

static void
event_publish(struct model_heap *model, const struct event *event)
{
    struct model_bucket *bucket = &model->buckets.all[event->bucket];

    if (event->free) {
        bucket->frees_pending--;
        bucket->frees++;
        model->sum.frees_pending--;
        model->sum.frees++;
        model->sum.bytes -= bucket->size_bytes;
    } else {
        bucket->allocs_pending--;
        bucket->allocs++;
        model->sum.allocs_pending--;
        model->sum.allocs++;
        model->sum.bytes += bucket->size_bytes;
    }
}

/* Publish the events that became final in cycle `now`, or a multiple of `every`
 * cycles before. */
static void
publish(struct model_heap *model, uint64_t now, uint64_t every)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < model->pending_count; i++) {
        const struct event event = model->pending[i];

        if (event.final <= now && (now - event.final) % every == 0)
            event_publish(model, &event);
        else
            model->pending[kept++] = event;
    }
    model->pending_count = kept;
}

/* Are all published counts of heap buckets 0? */
static bool
nothing_published(const struct model_heap *model)
{
    return model->sum.allocs == 0 && model->sum.frees == 0;
}

/* How many buckets a heap snapshot lists. in: pending, true to count as if
 * everything were published */
static uint32_t
heap_count(const struct model_heap *model, bool all, bool pending)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->buckets.count; i++) {
        const struct model_bucket *b = &model->buckets.all[i];
        const uint64_t allocs = b->allocs + (pending ? b->allocs_pending : 0);
        const uint64_t frees = b->frees + (pending ? b->frees_pending : 0);

        if (b->kind != MODEL_HEAP)
            continue;
        if (all || allocs * b->size_bytes != frees * b->size_bytes)
            count++;
    }
    return count;
}

static uint32_t
kind_count(const struct model_heap *model, enum model_bucket_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->buckets.count; i++)
        if (model->buckets.all[i].kind == kind)
            count++;
    return count;
}

/* ---- entries of the log ---- */

/* Is the allocation recorded? Heap and contention share a processor's random
 * numbers. */
static bool
is_sampled(struct model_heap *model, const struct truth_entry *entry)
{
    struct model_heap_sampler *sampler = &model->samplers[entry->proc];
    uint64_t *state = &model->contention.states[entry->proc];
    bool sampled;

    sampler->state = *state;
    sampled =
        model_heap_sampler_next(sampler, entry->size_bytes, model->heap_rate);
    *state = sampler->state;
    return sampled;
}

static void
on_alloc(struct model_heap *model, const struct truth_entry *entry)
{
    uint32_t bucket;

    if (!is_sampled(model, entry))
        return; /* it has no bucket, so its free does not count */
    bucket = model_buckets_of(&model->buckets, &model->limits, model->log,
                              MODEL_HEAP, entry->stack, entry->size_bytes);
    if (bucket == MODEL_BUCKET_NONE)
        return;
    model_live_born(&model->live, entry->object, bucket, model->fed);
    pending_add(model, bucket, false, model->cycles + 2);
}

/* Record a free. If the object's allocation was dropped, it does not count. */
static void
on_free_explicit(struct model_heap *model, uint32_t object)
{
    const uint32_t bucket = model_live_bucket(&model->live, object);

    if (bucket == MODEL_BUCKET_NONE)
        return;
    if (model->limits.explicit_free_dropped) {
        model->no_free_path++;
        return;
    }
    model_live_freed(&model->live, object, model->fed);
    pending_add(model, bucket, true, model->cycles + 2);
}

static void
on_dead(struct model_heap *model, uint32_t object)
{
    if (model_live_bucket(&model->live, object) != MODEL_BUCKET_NONE)
        model_live_dead(&model->live, object);
}

static void
on_sweep(struct model_heap *model, uint32_t object)
{
    const uint32_t bucket = model_live_bucket(&model->live, object);

    if (bucket == MODEL_BUCKET_NONE)
        return;
    model_live_swept(&model->live, object, model->fed);
    pending_add(model, bucket, true, model->cycles + 1);
}

static void
on_contention(struct model_heap *model, const struct truth_entry *entry,
              bool block, int64_t cycles)
{
    struct model_contention *contention = &model->contention;
    const struct model_charge charge =
        block ? model_contention_block(contention, entry->proc, cycles)
              : model_contention_mutex(contention, entry->proc, cycles);
    struct model_bucket *bucket;
    uint32_t number;

    if (!charge.kept)
        return;
    number =
        model_buckets_of(&model->buckets, &model->limits, model->log,
                         block ? MODEL_BLOCK : MODEL_MUTEX, entry->stack, 0);
    if (number == MODEL_BUCKET_NONE)
        return;
    bucket = &model->buckets.all[number];
    bucket->allocs = model_contention_count(contention, block, &charge,
                                            bucket->allocs, &bucket->events);
    bucket->cycles += charge.cycles;
    bucket->outlived = false;
    bucket->by_locks |=
        entry->kind == TRUTH_RELEASED || entry->kind == TRUTH_WOKEN;
}

static void
on_wait(struct model_heap *model, const struct truth_entry *entry)
{
    const struct model_contention *contention = &model->contention;
    const struct model_wait wait = {
        .task = entry->task,
        .lock = entry->lock,
        .began = entry->at_ticks,
        .charged = entry->at_ticks,
        .block_on = contention->block_rate_ticks > 0,
        .mutex_on = contention->mutex_fraction > 0,
    };

    model_waits_begin(&model->waits, &wait);
}

static void
on_wait_end(struct model_heap *model, const struct truth_entry *entry)
{
    const bool block = entry->kind == TRUTH_WOKEN;
    bool reported;
    const int64_t cycles =
        block
            ? model_waits_woken(&model->waits, entry->task, entry->at_ticks,
                                &reported)
            : model_waits_released(&model->waits, entry->task, entry->at_ticks,
                                   model->limits.waiters_all, &reported);

    if (reported)
        on_contention(model, entry, block, cycles);
}

static void
on_rate(struct model_heap *model, const struct truth_entry *entry)
{
    for (uint32_t i = 0; i < model->buckets.count; i++)
        model->buckets.all[i].outlived = true;
    if (entry->kind == TRUTH_BLOCK_RATE)
        model_contention_block_rate(&model->contention, entry->cycles);
    else if (entry->kind == TRUTH_MUTEX_FRACTION)
        model_contention_mutex_fraction(&model->contention, entry->cycles);
    else
        set_heap_rate(model, entry->cycles);
}

static void
on_next_cycle(struct model_heap *model)
{
    model->cycles++;
    model->flushed = false;
    if (model->limits.scheme == MODEL_STAGES)
        publish(model, model->cycles, 1);
    model_live_next_cycle(&model->live);
}

/* Publish what both a flush and a snapshot publish. */
static void
publish_cycle(struct model_heap *model)
{
    if (model->limits.scheme == MODEL_RING)
        publish(model, model->cycles, 3);
    model_live_flush(&model->live);
}

static void
on_flush(struct model_heap *model)
{
    model->flushed = true;
    publish_cycle(model);
}

static void
on_post_sweep(struct model_heap *model)
{
    if (model->limits.scheme == MODEL_RING)
        publish(model, model->cycles + 1, 3);
    model_live_post_sweep(&model->live);
}

static void
on_snapshot(struct model_heap *model, const struct truth_entry *entry)
{
    struct model_answer answer = {.all = entry->flag};
    bool first;

    publish_cycle(model);
    first = nothing_published(model) && model->pending_count > 0;
    answer.count = heap_count(model, entry->flag, first);
    answer.fits = answer.count <= entry->room;
    answer.first =
        first && (answer.fits || model->limits.sizing_consumes_first);
    if (answer.first) {
        publish(model, EVER, 1);
        model_live_first(&model->live, model->fed);
    }
    model->answer = answer;
}

/* Answer a call that lists buckets without a filter and publishes nothing. */
static void
on_listing(struct model_heap *model, enum model_bucket_kind kind, uint32_t room)
{
    const uint32_t count = kind_count(model, kind);

    model->answer = (struct model_answer){
        .count = count,
        .fits = count <= room,
        .all = true,
    };
}

static void
on_reading(struct model_heap *model, const struct truth_entry *entry)
{
    if (entry->kind == TRUTH_SNAPSHOT)
        on_snapshot(model, entry);
    else if (entry->kind == TRUTH_ITERATE)
        on_listing(model, MODEL_HEAP, TRUTH_ROOM_ENOUGH);
    else if (entry->kind == TRUTH_BLOCK_SNAPSHOT)
        on_listing(model, MODEL_BLOCK, entry->room);
    else
        on_listing(model, MODEL_MUTEX, entry->room);
}

static void
on_entry(struct model_heap *model, const struct truth_entry *entry)
{
    switch ((int)entry->kind) {
    case TRUTH_ALLOC:
        on_alloc(model, entry);
        return;
    case TRUTH_FREE_EXPLICIT:
        on_free_explicit(model, entry->object);
        return;
    case TRUTH_BLOCK:
        on_contention(model, entry, true, entry->cycles);
        return;
    case TRUTH_MUTEX:
        on_contention(model, entry, false, entry->cycles);
        return;
    case TRUTH_WAIT:
        on_wait(model, entry);
        return;
    case TRUTH_RELEASED:
    case TRUTH_WOKEN:
        on_wait_end(model, entry);
        return;
    case TRUTH_BLOCK_RATE:
    case TRUTH_MUTEX_FRACTION:
    case TRUTH_HEAP_RATE:
        on_rate(model, entry);
        return;
    case TRUTH_DEAD:
        on_dead(model, entry->object);
        return;
    case TRUTH_TERMINATE:
        model_live_terminate(&model->live, entry->flag);
        return;
    case TRUTH_SWEEP:
        on_sweep(model, entry->object);
        return;
    case TRUTH_NEXT_CYCLE:
        on_next_cycle(model);
        return;
    case TRUTH_FLUSH:
        on_flush(model);
        return;
    case TRUTH_POST_SWEEP:
        on_post_sweep(model);
        return;
    case TRUTH_SNAPSHOT:
    case TRUTH_ITERATE:
    case TRUTH_BLOCK_SNAPSHOT:
    case TRUTH_MUTEX_SNAPSHOT:
        on_reading(model, entry);
        return;
    default: /* facts of tasks and clocks: entries contain the clock readings
                they need. A dropped reference matters only when a marking finds
                the object dead */
        return;
    }
}

void
model_heap_feed(struct model_heap *model)
{
    MODEL_ASSERT(model->log->entries_count <= model->entries_max);
    for (; model->fed < model->log->entries_count; model->fed++) {
        const struct truth_entry *entry = &model->log->entries[model->fed];

        if (!model->limits.unheard[entry->kind])
            on_entry(model, entry);
    }
}

/* ---- answers ---- */

const struct model_bucket *
model_heap_buckets(const struct model_heap *model, uint32_t *count)
{
    *count = model->buckets.count;
    return model->buckets.all;
}

const struct model_sum *
model_heap_sum(const struct model_heap *model)
{
    return &model->sum;
}

struct model_drops
model_heap_drops(const struct model_heap *model)
{
    struct model_drops drops = model->buckets.drops;

    drops.no_free_path = model->no_free_path;
    drops.no_mutex = model->contention.no_mutex;
    return drops;
}

const struct model_contention *
model_heap_contention(const struct model_heap *model)
{
    return &model->contention;
}

uint64_t
model_heap_cycles(const struct model_heap *model)
{
    return model->cycles;
}

bool
model_heap_flushed(const struct model_heap *model)
{
    return model->flushed;
}

struct model_answer
model_heap_answer(const struct model_heap *model)
{
    return model->answer;
}

bool
model_heap_at(struct model_heap *model, uint32_t *k)
{
    const bool exact = model_live_at(&model->live, model->buckets.all, k);

    model->sum.bytes_then = model->live.bytes_then;
    return exact;
}
