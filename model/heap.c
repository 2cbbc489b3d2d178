/*
 * heap.c -- the oracle of the heap and contention profiles.
 *
 * Publication. n counts the next_cycle calls. An event gets, when recorded, the
 * number of the cycle in which it becomes final:
 *
 *      allocation n+2   free by the sweeper n+1   explicit free n+2
 *
 * and waits in one list, `pending`, until something publishes it:
 *
 *                  ring                         stages
 *      next_cycle  -                            all final by now
 *      flush       those final in this cycle    -
 *      snapshot    those final in this cycle    -
 *      post_sweep  those final in the next      -
 *
 * What a ring failed to publish in its cycle becomes due again every 3 cycles.
 *
 * Heap. g counts the mark terminations. An object remembers under which g it
 * was born and freed and which marking found it dead; the heap at termination k
 * is what those numbers say. k is g-1, or g once the sweep of g is known to be
 * complete. Preconditions, each kept as the exact condition under which the
 * published numbers lack something of that heap:
 *
 *   Overdue data (ring). Allocations stop to become final in cycle n when n-2
 *   ends, swept frees when n-1 ends. So in cycle n the data of n is complete,
 *   and one flush or snapshot in n publishes all of it; so does a post_sweep in
 *   n-1 for what was recorded up to then. If there is some left when n ends it
 *   is overdue, and heap k is not all there, until a flush or snapshot in n+3
 *   or a post_sweep in n+2; if none of these comes either, in n+6, and so on.
 *   Hence three flushed terminations after a missed one always heal.
 *
 *   Late frees. An object that marking number d <= k found dead has to be swept
 *   before the next_cycle (or post_sweep) that made k the answer: a free
 *   recorded since then becomes final later. Which frees are late is therefore
 *   settled at each of these calls, and nothing in between heals or breaks it.
 *
 * The frees and allocations published are never more than those of heap k, so
 * if something is missing no other event can make up for it.
 */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#define NOT_YET UINT32_MAX
#define NONE    UINT32_MAX
#define ALL     UINT64_MAX

/* A log that contradicts itself or its announced size proves nothing. */
#define MUST(cond) ((cond) ? (void)0 : __builtin_trap())

struct event {      /* recorded, not yet published */
    uint64_t final; /* the cycle it becomes final in */
    uint32_t bucket;
    bool free;
};

struct object {
    uint32_t bucket;     /* NONE: never born, or its allocation was dropped */
    uint32_t born_at;    /* entry of the log */
    uint32_t born_g;     /* terminations before it */
    uint32_t dead_g;     /* the termination whose marking found it dead */
    uint32_t explicit_g; /* terminations before its explicit free */
    uint32_t told_at;    /* entry in which the library was told of a free */
};

/* What became of a (stack, kind, size) that was seen before. */
struct seen {
    uint64_t size_bytes;
    enum model_bucket_kind kind;
    uint32_t bucket; /* NONE: refused, and will always be */
    uint32_t next;   /* of the same stack; NONE ends */
};

struct seen_stack {
    uint64_t run; /* `first` belongs to this run */
    uint32_t first;
};

/* Is there unpublished data that becomes final in some cycle? */
enum debt { DEBT_NONE, DEBT_DUE, DEBT_OVERDUE };

struct model_heap {
    uint32_t objects_max;
    uint32_t buckets_max;
    uint32_t entries_max;

    struct model_limits limits;
    const struct truth_log *log;
    uint32_t fed; /* entries read */

    struct model_bucket *buckets; /* in order of birth */
    uint32_t buckets_count;
    uint64_t frames_count; /* of all buckets */
    struct model_drops drops;

    uint64_t run; /* how many resets; makes `seen_stacks` empty in no time */
    struct seen_stack *seen_stacks;
    struct seen *seen;
    uint32_t seen_count;

    struct object *objects;
    uint32_t objects_count;

    /* Publication. */
    struct event *pending;
    uint32_t pending_count;
    uint64_t pending_final_min; /* no pending event is final earlier */
    uint64_t cycles;            /* n */
    bool flushed;
    struct model_answer answer;

    /* Heap. */
    uint32_t terminations; /* g */
    bool stopped_sweep;    /* termination g swept in the stopped world */
    bool post_swept;       /* post_sweep since termination g */
    uint32_t first_at;     /* entry of the last first snapshot */
    uint32_t untold_old;   /* found dead before g, the library not told */
    uint32_t untold_new;   /* found dead at g, not told */
    uint32_t untold_next;  /* found dead by the marking that ends at g+1 */
    bool frees_late;
    enum debt debt_now, debt_next, debt_after;

    uint32_t *open; /* objects not yet both born and freed at k */
    uint32_t open_count;
    uint64_t *closed; /* per bucket: objects both born and freed at k */
};

struct model_heap *
model_heap_new(uint32_t objects_max, uint32_t buckets_max, uint32_t entries_max)
{
    const size_t objects = (size_t)objects_max + 1;
    const size_t buckets = (size_t)buckets_max + 1;
    const size_t entries = (size_t)entries_max + 1;
    struct model_heap *model = calloc(1, sizeof *model);

    if (model == NULL)
        return NULL;
    model->objects_max = objects_max;
    model->buckets_max = buckets_max;
    model->entries_max = entries_max;
    model->buckets = malloc(buckets * sizeof *model->buckets);
    model->closed = malloc(buckets * sizeof *model->closed);
    model->objects = malloc(objects * sizeof *model->objects);
    model->open = malloc(objects * sizeof *model->open);
    model->pending = malloc(entries * sizeof *model->pending);
    model->seen = malloc(entries * sizeof *model->seen);
    model->seen_stacks = calloc(entries, sizeof *model->seen_stacks);
    if (model->buckets == NULL || model->closed == NULL ||
        model->objects == NULL || model->open == NULL ||
        model->pending == NULL || model->seen == NULL ||
        model->seen_stacks == NULL) {
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
    free(model->buckets);
    free(model->closed);
    free(model->objects);
    free(model->open);
    free(model->pending);
    free(model->seen);
    free(model->seen_stacks);
    free(model);
}

void
model_heap_reset(struct model_heap *model, const struct model_limits *limits,
                 const struct truth_log *log)
{
    const struct model_heap old = *model;

    /* Keep the memory, forget the rest. */
    *model = (struct model_heap){
        .objects_max = old.objects_max,
        .buckets_max = old.buckets_max,
        .entries_max = old.entries_max,
        .buckets = old.buckets,
        .closed = old.closed,
        .objects = old.objects,
        .open = old.open,
        .pending = old.pending,
        .seen = old.seen,
        .seen_stacks = old.seen_stacks,
        .run = old.run + 1,
        .limits = *limits,
        .log = log,
        .pending_final_min = ALL,
    };
}

/* ------------------------------------------------------------------- buckets
 */

static bool
bucket_is(const struct model_bucket *bucket, const struct model_bucket *wanted)
{
    if (bucket->kind != wanted->kind ||
        bucket->size_bytes != wanted->size_bytes ||
        bucket->depth != wanted->depth)
        return false;
    for (uint32_t i = 0; i < wanted->depth; i++)
        if (bucket->frames[i] != wanted->frames[i])
            return false;
    return true;
}

/* The bucket of that identity, a new one, or NONE if it is refused. */
static uint32_t
bucket_search(struct model_heap *model, const struct model_bucket *wanted)
{
    for (uint32_t i = 0; i < model->buckets_count; i++)
        if (bucket_is(&model->buckets[i], wanted))
            return i;
    if (model->buckets_count >= model->limits.buckets_max ||
        wanted->depth > model->limits.frames_max - model->frames_count)
        return NONE;

    MUST(model->buckets_count < model->buckets_max);
    model->buckets[model->buckets_count] = *wanted;
    model->closed[model->buckets_count] = 0;
    model->frames_count += wanted->depth;
    return model->buckets_count++;
}

/* The same, but a linear search only when the log's stack and size are new. */
static uint32_t
bucket_find(struct model_heap *model, const struct model_bucket *wanted,
            uint32_t stack)
{
    struct seen_stack *head;
    uint32_t bucket;

    if (stack >= model->entries_max)
        return bucket_search(model, wanted);
    head = &model->seen_stacks[stack];
    if (head->run != model->run)
        *head = (struct seen_stack){.run = model->run, .first = NONE};
    for (uint32_t i = head->first; i != NONE; i = model->seen[i].next)
        if (model->seen[i].kind == wanted->kind &&
            model->seen[i].size_bytes == wanted->size_bytes)
            return model->seen[i].bucket;

    bucket = bucket_search(model, wanted);
    MUST(model->seen_count < model->entries_max);
    model->seen[model->seen_count] = (struct seen){
        .size_bytes = wanted->size_bytes,
        .kind = wanted->kind,
        .bucket = bucket,
        .next = head->first,
    };
    head->first = model->seen_count++;
    return bucket;
}

/* The bucket an event belongs to; NONE: the event is dropped, and counted. */
static uint32_t
bucket_of(struct model_heap *model, enum model_bucket_kind kind, uint32_t stack,
          uint64_t size_bytes)
{
    struct model_bucket wanted = {.kind = kind, .size_bytes = size_bytes};
    uint32_t bucket;

    MUST(stack < model->log->stacks_count);
    wanted.frames = model->log->stacks[stack].frames;
    wanted.depth = model->log->stacks[stack].depth;
    if (wanted.depth > model->limits.depth_max)
        wanted.depth = model->limits.depth_max;

    bucket = bucket_find(model, &wanted, stack);
    if (bucket == NONE) {
        if (model->buckets_count >= model->limits.buckets_max)
            model->drops.no_bucket++;
        else
            model->drops.no_frames++;
    }
    return bucket;
}

/* --------------------------------------------------------------- publication
 */

static void
pending_add(struct model_heap *model, uint32_t bucket, bool free,
            uint64_t final)
{
    MUST(model->pending_count < model->entries_max);
    model->pending[model->pending_count++] = (struct event){
        .final = final,
        .bucket = bucket,
        .free = free,
    };
    if (model->pending_final_min > final)
        model->pending_final_min = final;
    if (free)
        model->buckets[bucket].frees_pending++;
    else
        model->buckets[bucket].allocs_pending++;
}

static void
event_publish(struct model_bucket *bucket, bool free)
{
    if (free) {
        bucket->frees_pending--;
        bucket->frees++;
    } else {
        bucket->allocs_pending--;
        bucket->allocs++;
    }
}

/* Publish what became final in cycle `now`, now - every, now - 2 every, ... */
static void
publish(struct model_heap *model, uint64_t now, uint64_t every)
{
    uint32_t kept = 0;
    uint64_t final_min = ALL;

    if (now < model->pending_final_min)
        return; /* nothing to find */
    for (uint32_t i = 0; i < model->pending_count; i++) {
        const struct event event = model->pending[i];

        if (event.final <= now && (now - event.final) % every == 0) {
            event_publish(&model->buckets[event.bucket], event.free);
        } else {
            model->pending[kept++] = event;
            if (final_min > event.final)
                final_min = event.final;
        }
    }
    model->pending_count = kept;
    model->pending_final_min = final_min;
}

/* Is every heap bucket still without any published number? */
static bool
nothing_published(const struct model_heap *model)
{
    for (uint32_t i = 0; i < model->buckets_count; i++)
        if (model->buckets[i].kind == MODEL_HEAP &&
            (model->buckets[i].allocs != 0 || model->buckets[i].frees != 0))
            return false;
    return true;
}

/* How many buckets a heap snapshot lists; `pending` as if all were published */
static uint32_t
heap_count(const struct model_heap *model, bool all, bool pending)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->buckets_count; i++) {
        const struct model_bucket *b = &model->buckets[i];
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

    for (uint32_t i = 0; i < model->buckets_count; i++)
        if (model->buckets[i].kind == kind)
            count++;
    return count;
}

static void
answer_unfiltered(struct model_heap *model, enum model_bucket_kind kind,
                  uint32_t room)
{
    const uint32_t count = kind_count(model, kind);

    model->answer = (struct model_answer){
        .count = count,
        .fits = count <= room,
        .all = true,
    };
}

/* ---------------------------------------------------------------------- heap
 */

/* The termination whose heap is to be seen. */
static uint32_t
heap_k(const struct model_heap *model)
{
    if (model->terminations == 0)
        return 0;
    if (model->stopped_sweep ||
        (model->post_swept && model->limits.scheme == MODEL_RING))
        return model->terminations;
    return model->terminations - 1;
}

/* Settle whether heap k has frees the library was not told of by now. */
static void
settle_late_frees(struct model_heap *model)
{
    model->frees_late = model->untold_old > 0;
    if (heap_k(model) == model->terminations && model->untold_new > 0)
        model->frees_late = true;
}

static void
debt_add(enum debt *debt)
{
    if (*debt == DEBT_NONE)
        *debt = DEBT_DUE;
}

static void
debts_next_cycle(struct model_heap *model)
{
    const enum debt left = model->debt_now;

    model->debt_now = model->debt_next;
    model->debt_next = model->debt_after;
    model->debt_after = left == DEBT_NONE ? DEBT_NONE : DEBT_OVERDUE;
}

static bool
allocated_then(const struct model_heap *model, const struct object *object,
               uint32_t k)
{
    return object->born_g < k || object->born_at < model->first_at;
}

static bool
freed_then(const struct model_heap *model, const struct object *object,
           uint32_t k)
{
    return object->dead_g <= k || object->explicit_g < k ||
           object->told_at < model->first_at;
}

/* ------------------------------------------------------- entries of the log
 */

static struct object *
object_at(struct model_heap *model, uint32_t id)
{
    MUST(id < model->objects_max);
    while (model->objects_count <= id) {
        model->objects[model->objects_count++] = (struct object){
            .bucket = NONE,
            .dead_g = NOT_YET,
            .explicit_g = NOT_YET,
            .told_at = NOT_YET,
        };
    }
    return &model->objects[id];
}

static void
on_alloc(struct model_heap *model, const struct truth_entry *entry)
{
    struct object *object = object_at(model, entry->object);

    MUST(object->bucket == NONE);
    object->bucket =
        bucket_of(model, MODEL_HEAP, entry->stack, entry->size_bytes);
    if (object->bucket == NONE)
        return;
    object->born_at = model->fed;
    object->born_g = model->terminations;
    model->open[model->open_count++] = entry->object;
    pending_add(model, object->bucket, false, model->cycles + 2);
    debt_add(&model->debt_after);
}

static void
on_free_explicit(struct model_heap *model, const struct truth_entry *entry)
{
    struct object *object = object_at(model, entry->object);

    if (object->bucket == NONE)
        return;
    if (model->limits.explicit_free_dropped) {
        model->drops.no_free_path++;
        return;
    }
    object->explicit_g = model->terminations;
    object->told_at = model->fed;
    pending_add(model, object->bucket, true, model->cycles + 2);
    debt_add(&model->debt_after);
}

static void
on_dead(struct model_heap *model, const struct truth_entry *entry)
{
    struct object *object = object_at(model, entry->object);

    if (object->bucket == NONE)
        return;
    MUST(object->dead_g == NOT_YET && object->told_at == NOT_YET);
    object->dead_g = model->terminations + 1;
    model->untold_next++;
}

static void
on_sweep(struct model_heap *model, const struct truth_entry *entry)
{
    struct object *object = object_at(model, entry->object);

    if (object->bucket == NONE)
        return;
    MUST(object->dead_g <= model->terminations && object->told_at == NOT_YET);
    object->told_at = model->fed;
    if (object->dead_g == model->terminations)
        model->untold_new--;
    else
        model->untold_old--;
    pending_add(model, object->bucket, true, model->cycles + 1);
    debt_add(&model->debt_next);
}

static void
on_terminate(struct model_heap *model, const struct truth_entry *entry)
{
    model->terminations++;
    model->stopped_sweep = entry->flag;
    model->post_swept = false;
    model->untold_old += model->untold_new;
    model->untold_new = model->untold_next;
    model->untold_next = 0;
    settle_late_frees(model);
}

static void
on_next_cycle(struct model_heap *model)
{
    model->cycles++;
    model->flushed = false;
    if (model->limits.scheme == MODEL_STAGES)
        publish(model, model->cycles, 1);
    debts_next_cycle(model);
    settle_late_frees(model);
}

/* What both a flush and a snapshot do. */
static void
publish_cycle(struct model_heap *model)
{
    if (model->limits.scheme == MODEL_STAGES)
        return;
    publish(model, model->cycles, 3);
    model->debt_now = DEBT_NONE;
}

static void
on_flush(struct model_heap *model)
{
    if (model->flushed)
        return;
    model->flushed = true;
    publish_cycle(model);
}

static void
on_post_sweep(struct model_heap *model)
{
    if (model->limits.scheme == MODEL_STAGES)
        return;
    publish(model, model->cycles + 1, 3);
    model->debt_next = DEBT_NONE;
    model->post_swept = true;
    settle_late_frees(model);
}

/* Publish everything, because nothing was published yet. */
static void
publish_first(struct model_heap *model)
{
    publish(model, ALL, 1);
    model->first_at = model->fed;
    model->debt_now = DEBT_NONE;
    model->debt_next = DEBT_NONE;
    model->debt_after = DEBT_NONE;
    settle_late_frees(model);
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
    if (answer.first)
        publish_first(model);
    model->answer = answer;
}

static void
on_contention(struct model_heap *model, const struct truth_entry *entry,
              enum model_bucket_kind kind, int64_t cycles_min)
{
    const uint32_t bucket = bucket_of(model, kind, entry->stack, 0);
    const int64_t cycles =
        entry->cycles < cycles_min ? cycles_min : entry->cycles;

    if (bucket == NONE)
        return;
    model->buckets[bucket].allocs++;
    model->buckets[bucket].cycles += (uint64_t)cycles;
}

static void
on_entry(struct model_heap *model, const struct truth_entry *entry)
{
    switch (entry->kind) {
    case TRUTH_ALLOC:
        on_alloc(model, entry);
        return;
    case TRUTH_FREE_EXPLICIT:
        on_free_explicit(model, entry);
        return;
    case TRUTH_BLOCK:
        on_contention(model, entry, MODEL_BLOCK, 1);
        return;
    case TRUTH_MUTEX:
        on_contention(model, entry, MODEL_MUTEX, 0);
        return;
    case TRUTH_DEAD:
        on_dead(model, entry);
        return;
    case TRUTH_TERMINATE:
        on_terminate(model, entry);
        return;
    case TRUTH_SWEEP:
        on_sweep(model, entry);
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
        on_snapshot(model, entry);
        return;
    case TRUTH_ITERATE:
        answer_unfiltered(model, MODEL_HEAP, TRUTH_ROOM_ENOUGH);
        return;
    case TRUTH_BLOCK_SNAPSHOT:
        answer_unfiltered(model, MODEL_BLOCK, entry->room);
        return;
    case TRUTH_MUTEX_SNAPSHOT:
        answer_unfiltered(model, MODEL_MUTEX, entry->room);
        return;
    case TRUTH_DROP: /* only what a marking makes of it matters */
    case TRUTH_MARK:
    case TRUTH_KIND_COUNT:
        return;
    }
}

void
model_heap_feed(struct model_heap *model)
{
    MUST(model->log->entries_count <= model->entries_max);
    for (; model->fed < model->log->entries_count; model->fed++)
        on_entry(model, &model->log->entries[model->fed]);
}

/* ------------------------------------------------------------------- answers
 */

const struct model_bucket *
model_heap_buckets(const struct model_heap *model, uint32_t *count)
{
    *count = model->buckets_count;
    return model->buckets;
}

struct model_drops
model_heap_drops(const struct model_heap *model)
{
    return model->drops;
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

static bool
overdue(const struct model_heap *model)
{
    return model->limits.scheme == MODEL_RING &&
           (model->debt_now == DEBT_OVERDUE ||
            model->debt_next == DEBT_OVERDUE ||
            model->debt_after == DEBT_OVERDUE);
}

bool
model_heap_at(struct model_heap *model, uint32_t *k)
{
    uint32_t kept = 0;

    *k = heap_k(model);
    if (overdue(model) || model->frees_late)
        return false;

    for (uint32_t i = 0; i < model->buckets_count; i++) {
        model->buckets[i].allocs_then = model->closed[i];
        model->buckets[i].frees_then = model->closed[i];
    }
    /* k never goes back: who is both born and freed need not be asked again. */
    for (uint32_t i = 0; i < model->open_count; i++) {
        const uint32_t id = model->open[i];
        const struct object *object = &model->objects[id];
        const bool born = allocated_then(model, object, *k);
        const bool freed = freed_then(model, object, *k);

        model->buckets[object->bucket].allocs_then += born;
        model->buckets[object->bucket].frees_then += freed;
        if (born && freed)
            model->closed[object->bucket]++;
        else
            model->open[kept++] = id;
    }
    model->open_count = kept;
    return true;
}
