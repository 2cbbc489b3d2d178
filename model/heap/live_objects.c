/*
 * live_objects.c -- the heap oracle: which objects existed at a mark
 * termination.
 *
 * Let g be the number of mark terminations so far. For each object it is noted
 * at which g it was allocated and freed, and which marking found it dead. These
 * numbers give the heap at termination k, where k is g-1, or g once the sweep
 * of g is known to be complete.
 *
 * A snapshot equals heap k unless a precondition is broken. Each is stated
 * below as the exact condition under which the published counts lack part of
 * heap k. They never contain more than heap k, so an excess cannot hide what is
 * missing.
 *
 *   Overdue data (ring). Say an event is data of cycle n if it becomes final in
 *   cycle n. The allocations among it are complete when cycle n-2 ends, the
 *   swept frees when n-1 ends. So during cycle n all data of n is recorded, and
 *   one flush or snapshot publishes it; a post_sweep in n-1 publishes what was
 *   recorded by then. Data left when n ends is overdue, and heap k is
 *   incomplete, until a flush or snapshot in n+3 or a post_sweep in n+2; if
 *   none comes, until n+6, and so on. Hence after a missed flush, three flushed
 *   terminations always repair the counts.
 *
 *   Late frees. If marking d <= k found an object dead, it must be swept before
 *   the next_cycle (or post_sweep) that made k the current heap, because a free
 *   recorded after this call becomes final later. So each such call decides
 *   which frees are late, and nothing between two calls changes that.
 */
#include "model/heap/live_objects.h"

#include <stdlib.h>

#include "model/heap/bucket.h"
#include "model/model_assert.h"

#define NOT_YET UINT32_MAX

struct model_object {
    uint32_t bucket;      /* MODEL_BUCKET_NONE: not counted */
    uint32_t born_at;     /* entry of the log */
    uint32_t born_cycle;  /* mark terminations before its birth */
    uint32_t dead_g;      /* number of the termination whose marking found it
                             dead */
    uint32_t explicit_g;  /* mark terminations before its explicit free */
    uint32_t reported_at; /* log entry that recorded its free */
};

bool
model_live_new(struct model_live *live, uint32_t objects_max)
{
    const size_t objects = (size_t)objects_max + 1;

    *live = (struct model_live){
        .objects_max = objects_max,
        .objects = malloc(objects * sizeof *live->objects),
        .births = malloc(objects * sizeof *live->births),
        .leaving = malloc(objects * sizeof *live->leaving),
    };
    return live->objects != NULL && live->births != NULL &&
           live->leaving != NULL;
}

void
model_live_delete(struct model_live *live)
{
    free(live->objects);
    free(live->births);
    free(live->leaving);
}

void
model_live_reset(struct model_live *live, enum model_scheme scheme)
{
    const struct model_live old = *live;

    /* Keep the memory, reset the rest. */
    *live = (struct model_live){
        .scheme = scheme,
        .objects_max = old.objects_max,
        .objects = old.objects,
        .births = old.births,
        .leaving = old.leaving,
    };
}

uint32_t
model_live_bucket(const struct model_live *live, uint32_t object)
{
    if (object >= live->objects_count)
        return MODEL_BUCKET_NONE;
    return live->objects[object].bucket;
}

/* k: the termination whose heap a snapshot must equal. */
static uint32_t
answer_k(const struct model_live *live)
{
    if (live->terminations == 0)
        return 0;
    if (live->stopped_sweep || (live->post_swept && live->scheme == MODEL_RING))
        return live->terminations;
    return live->terminations - 1;
}

/* Decide whether heap k needs frees that are not recorded yet. */
static void
settle_late_frees(struct model_live *live)
{
    const bool new_too = answer_k(live) == live->terminations;

    live->frees_in_alloc_slot =
        live->unreported_old > 0 || (new_too && live->unreported_new > 0);
}

static void
debt_add(enum model_debt *debt)
{
    if (*debt == MODEL_DEBT_NONE)
        *debt = MODEL_DEBT_DUE;
}

/* ---- facts ---- */

void
model_live_born(struct model_live *live, uint32_t object, uint32_t bucket,
                uint32_t at)
{
    MODEL_ASSERT(object < live->objects_max);
    MODEL_ASSERT(model_live_bucket(live, object) == MODEL_BUCKET_NONE);
    while (live->objects_count <= object)
        live->objects[live->objects_count++] = (struct model_object){
            .bucket = MODEL_BUCKET_NONE,
        };
    live->objects[object] = (struct model_object){
        .bucket = bucket,
        .born_at = at,
        .born_cycle = live->terminations,
        .dead_g = NOT_YET,
        .explicit_g = NOT_YET,
        .reported_at = NOT_YET,
    };
    live->births[live->births_count++] = object;
    debt_add(&live->debt_after);
}

void
model_live_freed(struct model_live *live, uint32_t object, uint32_t at)
{
    struct model_object *o = &live->objects[object];

    MODEL_ASSERT(o->dead_g == NOT_YET && o->reported_at == NOT_YET);
    o->explicit_g = live->terminations;
    o->reported_at = at;
    live->leaving[live->leaving_count++] = object;
    debt_add(&live->debt_after);
}

void
model_live_dead(struct model_live *live, uint32_t object)
{
    struct model_object *o = &live->objects[object];

    MODEL_ASSERT(o->dead_g == NOT_YET && o->reported_at == NOT_YET);
    o->dead_g = live->terminations + 1;
    live->leaving[live->leaving_count++] = object;
    live->unreported_next++;
}

void
model_live_swept(struct model_live *live, uint32_t object, uint32_t at)
{
    struct model_object *o = &live->objects[object];

    MODEL_ASSERT(o->dead_g <= live->terminations && o->reported_at == NOT_YET);
    o->reported_at = at;
    if (o->dead_g == live->terminations)
        live->unreported_new--;
    else
        live->unreported_old--;
    debt_add(&live->debt_next);
}

void
model_live_terminate(struct model_live *live, bool stopped_sweep)
{
    live->terminations++;
    live->stopped_sweep = stopped_sweep;
    live->post_swept = false;
    live->unreported_old += live->unreported_new;
    live->unreported_new = live->unreported_next;
    live->unreported_next = 0;
}

void
model_live_next_cycle(struct model_live *live)
{
    const enum model_debt left = live->debt_now;

    live->debt_now = live->debt_next;
    live->debt_next = live->debt_after;
    live->debt_after =
        left == MODEL_DEBT_NONE ? MODEL_DEBT_NONE : MODEL_DEBT_OVERDUE;
    settle_late_frees(live);
}

void
model_live_flush(struct model_live *live)
{
    live->debt_now = MODEL_DEBT_NONE;
}

void
model_live_post_sweep(struct model_live *live)
{
    live->debt_next = MODEL_DEBT_NONE;
    live->post_swept = true;
    if (live->scheme == MODEL_RING)
        settle_late_frees(live);
}

void
model_live_first(struct model_live *live, uint32_t at)
{
    live->first_at = at;
    live->debt_now = MODEL_DEBT_NONE;
    live->debt_next = MODEL_DEBT_NONE;
    live->debt_after = MODEL_DEBT_NONE;
    settle_late_frees(live);
}

/* ---- answer ---- */

static bool
is_overdue(const struct model_live *live)
{
    return live->scheme == MODEL_RING &&
           (live->debt_now == MODEL_DEBT_OVERDUE ||
            live->debt_next == MODEL_DEBT_OVERDUE ||
            live->debt_after == MODEL_DEBT_OVERDUE);
}

static bool
born_then(const struct model_live *live, const struct model_object *object,
          uint32_t k)
{
    return object->born_cycle < k || object->born_at < live->first_at;
}

static bool
freed_then(const struct model_live *live, const struct model_object *object,
           uint32_t k)
{
    return object->dead_g <= k || object->explicit_g < k ||
           object->reported_at < live->first_at;
}

/*
 * k never decreases, nor does the entry of the first snapshot. So an object
 * that counted as allocated or gone in one call does so in all later ones, and
 * the buckets' counts continue from the last call.
 */
bool
model_live_at(struct model_live *live, struct model_bucket *buckets,
              uint32_t *k)
{
    uint32_t kept = 0;

    *k = answer_k(live);
    while (live->births_done < live->births_count) {
        const struct model_object *object =
            &live->objects[live->births[live->births_done]];

        if (!born_then(live, object, *k))
            break; /* then no younger object was either */
        buckets[object->bucket].allocs_then++;
        live->bytes_then += buckets[object->bucket].size_bytes;
        live->births_done++;
    }
    for (uint32_t i = 0; i < live->leaving_count; i++) {
        const struct model_object *object = &live->objects[live->leaving[i]];

        if (freed_then(live, object, *k)) {
            buckets[object->bucket].frees_then++;
            live->bytes_then -= buckets[object->bucket].size_bytes;
        } else {
            live->leaving[kept++] = live->leaving[i];
        }
    }
    live->leaving_count = kept;
    return !is_overdue(live) && !live->frees_in_alloc_slot;
}
