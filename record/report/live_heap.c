/*
 * live_heap.c -- computes the live heap in one pass over the events of a
 * recording.
 *
 *      object --> bucket (stack, size) and thread, until it is freed
 *
 * The peak is known only at the end; until then each new maximum is a
 * candidate. Each bucket keeps its counts at the newest candidate: it saves
 * them when it first changes after that candidate. Until then its current
 * counts are those counts.
 *
 * Invariants
 *   I1  `saved` is the number of the last candidate for which a bucket saved
 *       its counts. If that is the newest candidate (the highest point so far),
 *       its counts are in peak_*; otherwise they are still allocs and frees.
 *       The same holds for threads.
 *
 * Memory: 16 bytes per object, 56 per distinct pair of stack and size; an
 * allocation takes at least 4 bytes of the file.
 */
#include "record/report/live_heap.h"

#include <stdlib.h>
#include <string.h>

struct object {
    uint32_t bucket;
    uint32_t thread;
    uint64_t usable_bytes; /* 0: not known */
};

struct walk {
    struct sim_live_heap *heap;
    const struct sim_recording_totals *totals;
    struct object *objects;
    uint32_t *slots; /* number of a bucket, from 1; 0: empty */
    uint32_t slots_count;
    uint32_t buckets_room;
    struct sim_heap_count live;
    struct sim_heap_count allocs;
    uint32_t peak;         /* number of the newest candidate */
    uint64_t usable_bytes; /* of what is in use */
};

/* ---- buckets ---- */

static uint32_t
slot_of(const struct walk *walk, uint32_t stack, uint64_t size_bytes)
{
    const uint64_t mixed = (size_bytes * UINT64_C(0x9e3779b97f4a7c15) ^ stack) *
                           UINT64_C(0xd6e8feb86659fd93);
    uint32_t slot = (uint32_t)(mixed >> 32) & (walk->slots_count - 1);

    for (;;) {
        const uint32_t number = walk->slots[slot];
        const struct sim_heap_bucket *bucket =
            &walk->heap->buckets[number - (number > 0)];

        if (number == 0 ||
            (bucket->stack == stack && bucket->size_bytes == size_bytes))
            return slot;
        slot = (slot + 1) & (walk->slots_count - 1);
    }
}

/* Make room for one more bucket, at most half of the slots taken. */
static bool
grow(struct walk *walk)
{
    struct sim_live_heap *heap = walk->heap;
    const uint32_t room = walk->buckets_room * 2;
    struct sim_heap_bucket *buckets =
        room <= UINT32_MAX / 4 ? realloc(heap->buckets, room * sizeof *buckets)
                               : NULL;

    if (buckets == NULL)
        return false;
    heap->buckets = buckets;
    walk->buckets_room = room;
    free(walk->slots);
    walk->slots_count = 2 * room;
    walk->slots = calloc(walk->slots_count, sizeof *walk->slots);
    if (walk->slots == NULL)
        return false;
    for (uint32_t i = 0; i < heap->buckets_count; i++)
        walk->slots[slot_of(walk, buckets[i].stack, buckets[i].size_bytes)] =
            i + 1;
    return true;
}

/* returns: the bucket's number; UINT32_MAX if there is no memory */
static uint32_t
bucket_of(struct walk *walk, uint32_t stack, uint64_t size_bytes)
{
    struct sim_live_heap *heap = walk->heap;
    uint32_t slot = slot_of(walk, stack, size_bytes);

    if (walk->slots[slot] != 0)
        return walk->slots[slot] - 1;
    if (heap->buckets_count == walk->buckets_room) {
        if (!grow(walk))
            return UINT32_MAX;
        slot = slot_of(walk, stack, size_bytes);
    }
    heap->buckets[heap->buckets_count] =
        (struct sim_heap_bucket){.size_bytes = size_bytes, .stack = stack};
    walk->slots[slot] = ++heap->buckets_count;
    return heap->buckets_count - 1;
}

/* I1: before the bucket changes. */
static void
save_bucket(struct sim_heap_bucket *bucket, uint32_t peak)
{
    if (bucket->saved == peak)
        return;
    bucket->peak_allocs = bucket->allocs;
    bucket->peak_frees = bucket->frees;
    bucket->saved = peak;
}

static void
save_thread(struct sim_heap_thread *thread, uint32_t peak)
{
    if (thread->saved == peak)
        return;
    thread->peak = thread->exit;
    thread->saved = peak;
}

/* ---- events ---- */

static void
add(struct sim_heap_count *count, uint64_t objects, uint64_t size_bytes)
{
    count->objects += objects;
    count->bytes += objects * size_bytes;
}

static void
take_away(struct sim_heap_count *count, uint64_t size_bytes)
{
    count->objects--;
    count->bytes -= size_bytes;
}

/* An object begins to be in use: by an allocation, or by a resize, from which
 * it takes its bytes, site and thread. returns: false if there is no memory */
static bool
begin_life(struct walk *walk, const struct sim_recorded *event)
{
    struct sim_live_heap *heap = walk->heap;
    struct sim_heap_thread *thread = &heap->threads[event->thread];
    const uint64_t size_bytes = event->size_bytes;
    const uint32_t number = bucket_of(walk, event->stack, size_bytes);

    if (number == UINT32_MAX)
        return false;
    save_bucket(&heap->buckets[number], walk->peak);
    save_thread(thread, walk->peak);
    heap->buckets[number].allocs++;
    add(&thread->allocs, 1, size_bytes);
    add(&thread->exit, 1, size_bytes);
    add(&walk->allocs, 1, size_bytes);
    add(&walk->live, 1, size_bytes);
    heap->has_usable = heap->has_usable && event->usable_bytes > 0;
    walk->usable_bytes += event->usable_bytes;
    walk->objects[event->object] =
        (struct object){number, event->thread, event->usable_bytes};
    return true;
}

/* An object stops being in use, by a free or by a resize. */
static void
end_life(struct walk *walk, const struct sim_recorded *event)
{
    struct sim_live_heap *heap = walk->heap;
    const struct object *object = &walk->objects[event->object];
    struct sim_heap_bucket *bucket = &heap->buckets[object->bucket];
    struct sim_heap_thread *thread = &heap->threads[object->thread];

    save_bucket(bucket, walk->peak);
    save_thread(thread, walk->peak);
    bucket->frees++;
    take_away(&thread->exit, bucket->size_bytes);
    add(&heap->threads[event->thread].freed, 1, bucket->size_bytes);
    take_away(&walk->live, bucket->size_bytes);
    walk->usable_bytes -= object->usable_bytes;
}

/* A new maximum is a candidate for the peak. */
static void
note_peak(struct walk *walk, const struct sim_recorded *event)
{
    struct sim_live_heap *heap = walk->heap;

    if (walk->peak > 0 && walk->live.bytes <= heap->total.peak.bytes)
        return;
    heap->total.peak = walk->live;
    heap->total.peak_allocs = walk->allocs;
    heap->peak_usable_bytes = walk->usable_bytes;
    heap->peak_ticks = event->ticks;
    walk->peak++;
}

/* The part of the run that contains a moment. The last includes the end. */
static uint32_t
span_of(const struct sim_live_heap *heap, uint64_t ticks)
{
    const uint64_t length = heap->duration_ticks / SIM_HEAP_SPANS + 1;

    return (uint32_t)(ticks / length);
}

/* The bytes in use stay until the next event, also through parts without
 * events. */
static void
note_span(struct walk *walk, const struct sim_recorded *event,
          uint32_t *current)
{
    struct sim_heap_span *spans = walk->heap->spans;
    const uint32_t span = span_of(walk->heap, event->ticks);

    for (; *current < span; ++*current) {
        spans[*current + 1].most_bytes = spans[*current].last_bytes;
        spans[*current + 1].last_bytes = spans[*current].last_bytes;
    }
    if (event->kind == SIM_RECORDED_ALLOC || event->kind == SIM_RECORDED_RESIZE)
        add(&spans[span].allocs, 1, event->size_bytes);
    if (walk->live.bytes > spans[span].most_bytes)
        spans[span].most_bytes = walk->live.bytes;
    spans[span].last_bytes = walk->live.bytes;
}

static bool
take_events(struct walk *walk, const struct sim_recording *recording,
            void (*progress)(uint64_t done, uint64_t total))
{
    const uint64_t all = sim_recording_events(recording);
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint64_t number = 0;
    uint32_t span = 0;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        number++;
        if (event.kind == SIM_RECORDED_FREE ||
            event.kind == SIM_RECORDED_RESIZE)
            end_life(walk, &event);
        if (event.kind == SIM_RECORDED_ALLOC ||
            event.kind == SIM_RECORDED_RESIZE) {
            if (!begin_life(walk, &event))
                return false;
            note_peak(walk, &event);
        }
        note_span(walk, &event, &span);
        if (progress != NULL && number % (1 << 20) == 0)
            progress(number, all);
    }
    return true;
}

/* ---- sums ---- */

static uint32_t
class_of(uint64_t size_bytes)
{
    return size_bytes == 0
               ? 0
               : 64 - (uint32_t)__builtin_clzll((unsigned long long)size_bytes);
}

static void
add_bucket(struct sim_heap_sums *sums, const struct sim_heap_bucket *bucket)
{
    const uint64_t size_bytes = bucket->size_bytes;

    add(&sums->allocs, bucket->allocs, size_bytes);
    add(&sums->exit, bucket->allocs - bucket->frees, size_bytes);
    add(&sums->peak_allocs, bucket->peak_allocs, size_bytes);
    add(&sums->peak, bucket->peak_allocs - bucket->peak_frees, size_bytes);
}

static void
sum_up(struct walk *walk)
{
    struct sim_live_heap *heap = walk->heap;

    heap->total.allocs = walk->allocs;
    heap->total.exit = walk->live;
    for (uint32_t i = 0; i < heap->buckets_count; i++) {
        struct sim_heap_bucket *bucket = &heap->buckets[i];

        save_bucket(bucket, walk->peak);
        add_bucket(&heap->sites[bucket->stack], bucket);
        add_bucket(&heap->classes[class_of(bucket->size_bytes)], bucket);
    }
    for (uint32_t i = 0; i < walk->totals->threads; i++)
        save_thread(&heap->threads[i], walk->peak);
}

static bool
prepare(struct walk *walk)
{
    const struct sim_recording_totals *totals = walk->totals;
    struct sim_live_heap *heap = walk->heap;

    walk->buckets_room = 512;
    walk->slots_count = 2 * walk->buckets_room;
    walk->slots = calloc(walk->slots_count, sizeof *walk->slots);
    walk->objects = calloc((size_t)totals->allocs + 1, sizeof *walk->objects);
    heap->buckets = calloc(walk->buckets_room, sizeof *heap->buckets);
    heap->sites = calloc((size_t)totals->stacks + 1, sizeof *heap->sites);
    heap->threads = calloc((size_t)totals->threads + 1, sizeof *heap->threads);
    return walk->slots != NULL && walk->objects != NULL &&
           heap->buckets != NULL && heap->sites != NULL &&
           heap->threads != NULL;
}

bool
sim_live_heap_open(struct sim_live_heap *heap,
                   const struct sim_recording *recording,
                   void (*progress)(uint64_t done, uint64_t total))
{
    struct walk walk = {.heap = heap,
                        .totals = sim_recording_totals(recording)};
    bool good;

    memset(heap, 0, sizeof *heap);
    heap->duration_ticks = walk.totals->duration_ticks;
    heap->has_usable = walk.totals->allocs > 0;
    good = prepare(&walk) && take_events(&walk, recording, progress);
    if (good)
        sum_up(&walk);
    free(walk.objects);
    free(walk.slots);
    return good;
}

void
sim_live_heap_close(struct sim_live_heap *heap)
{
    free(heap->buckets);
    free(heap->sites);
    free(heap->threads);
    memset(heap, 0, sizeof *heap);
}
