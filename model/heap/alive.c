/*
 * alive.c -- the heap oracle: which objects there were at a mark termination.
 *
 * g counts the mark terminations. An object remembers under which g it was born
 * and freed, and which marking found it dead; the heap at termination k is what
 * these numbers say. k is g-1, or g once the sweep of g is known to be
 * complete.
 *
 * Preconditions. Each is kept as the exact condition under which the published
 * numbers lack something of heap k; they never hold more than heap k, so
 * nothing else can make up for it.
 *
 *   Overdue data (ring). Allocations stop to become final in cycle n when n-2
 *   ends, swept frees when n-1 ends. So during cycle n the data of n is
 *   complete, and one flush or snapshot publishes all of it; so does a
 *   post_sweep in n-1 for what was recorded up to then. What is left when n
 *   ends is overdue, and heap k not all there, until a flush or snapshot in n+3
 *   or a post_sweep in n+2; if none of these comes either, in n+6, and so on.
 *   Hence three flushed terminations after a missed one always heal.
 *
 *   Late frees. An object that marking d <= k found dead must be swept before
 *   the next_cycle (or post_sweep) that made k the answer, as a free recorded
 *   after it becomes final later. Which frees are late is therefore settled at
 *   each of these calls, and nothing in between heals or breaks it.
 */
#include "alive.h"

#include <stdlib.h>

#include "bucket.h"
#include "must.h"

#define NOT_YET UINT32_MAX

struct model_object {
    uint32_t bucket;     /* MODEL_BUCKET_NONE: not counted */
    uint32_t born_at;    /* entry of the log */
    uint32_t born_g;     /* terminations before it */
    uint32_t dead_g;     /* the termination whose marking found it dead */
    uint32_t explicit_g; /* terminations before its explicit free */
    uint32_t told_at;    /* entry in which the library was told of a free */
};

bool
model_alive_new(struct model_alive *alive, uint32_t objects_max)
{
    const size_t objects = (size_t)objects_max + 1;

    *alive = (struct model_alive){
        .objects_max = objects_max,
        .objects = malloc(objects * sizeof *alive->objects),
        .births = malloc(objects * sizeof *alive->births),
        .leaving = malloc(objects * sizeof *alive->leaving),
    };
    return alive->objects != NULL && alive->births != NULL &&
           alive->leaving != NULL;
}

void
model_alive_delete(struct model_alive *alive)
{
    free(alive->objects);
    free(alive->births);
    free(alive->leaving);
    *alive = (struct model_alive){0};
}

void
model_alive_reset(struct model_alive *alive, enum model_scheme scheme)
{
    const struct model_alive old = *alive;

    /* Keep the memory, forget the rest. */
    *alive = (struct model_alive){
        .scheme = scheme,
        .objects_max = old.objects_max,
        .objects = old.objects,
        .births = old.births,
        .leaving = old.leaving,
    };
}

uint32_t
model_alive_bucket(const struct model_alive *alive, uint32_t object)
{
    if (object >= alive->objects_count)
        return MODEL_BUCKET_NONE;
    return alive->objects[object].bucket;
}

/* The termination whose heap is to be seen. */
static uint32_t
answer_k(const struct model_alive *alive)
{
    if (alive->terminations == 0)
        return 0;
    if (alive->stopped_sweep ||
        (alive->post_swept && alive->scheme == MODEL_RING))
        return alive->terminations;
    return alive->terminations - 1;
}

/* Settle whether heap k has frees that the library was not told of by now. */
static void
settle_late_frees(struct model_alive *alive)
{
    const bool new_too = answer_k(alive) == alive->terminations;

    alive->frees_in_alloc_slot =
        alive->untold_old > 0 || (new_too && alive->untold_new > 0);
}

static void
debt_add(enum model_debt *debt)
{
    if (*debt == MODEL_DEBT_NONE)
        *debt = MODEL_DEBT_DUE;
}

/* ---- facts ---- */

void
model_alive_born(struct model_alive *alive, uint32_t object, uint32_t bucket,
                 uint32_t at)
{
    MODEL_MUST(object < alive->objects_max);
    MODEL_MUST(model_alive_bucket(alive, object) == MODEL_BUCKET_NONE);
    while (alive->objects_count <= object)
        alive->objects[alive->objects_count++] = (struct model_object){
            .bucket = MODEL_BUCKET_NONE,
        };
    alive->objects[object] = (struct model_object){
        .bucket = bucket,
        .born_at = at,
        .born_g = alive->terminations,
        .dead_g = NOT_YET,
        .explicit_g = NOT_YET,
        .told_at = NOT_YET,
    };
    alive->births[alive->births_count++] = object;
    debt_add(&alive->debt_after);
}

void
model_alive_freed(struct model_alive *alive, uint32_t object, uint32_t at)
{
    struct model_object *o = &alive->objects[object];

    MODEL_MUST(o->dead_g == NOT_YET && o->told_at == NOT_YET);
    o->explicit_g = alive->terminations;
    o->told_at = at;
    alive->leaving[alive->leaving_count++] = object;
    debt_add(&alive->debt_after);
}

void
model_alive_dead(struct model_alive *alive, uint32_t object)
{
    struct model_object *o = &alive->objects[object];

    MODEL_MUST(o->dead_g == NOT_YET && o->told_at == NOT_YET);
    o->dead_g = alive->terminations + 1;
    alive->leaving[alive->leaving_count++] = object;
    alive->untold_next++;
}

void
model_alive_swept(struct model_alive *alive, uint32_t object, uint32_t at)
{
    struct model_object *o = &alive->objects[object];

    MODEL_MUST(o->dead_g <= alive->terminations && o->told_at == NOT_YET);
    o->told_at = at;
    if (o->dead_g == alive->terminations)
        alive->untold_new--;
    else
        alive->untold_old--;
    debt_add(&alive->debt_next);
}

void
model_alive_terminate(struct model_alive *alive, bool stopped_sweep)
{
    alive->terminations++;
    alive->stopped_sweep = stopped_sweep;
    alive->post_swept = false;
    alive->untold_old += alive->untold_new;
    alive->untold_new = alive->untold_next;
    alive->untold_next = 0;
}

void
model_alive_next_cycle(struct model_alive *alive)
{
    const enum model_debt left = alive->debt_now;

    alive->debt_now = alive->debt_next;
    alive->debt_next = alive->debt_after;
    alive->debt_after =
        left == MODEL_DEBT_NONE ? MODEL_DEBT_NONE : MODEL_DEBT_OVERDUE;
    settle_late_frees(alive);
}

void
model_alive_flush(struct model_alive *alive)
{
    alive->debt_now = MODEL_DEBT_NONE;
}

void
model_alive_post_sweep(struct model_alive *alive)
{
    alive->debt_next = MODEL_DEBT_NONE;
    alive->post_swept = true;
    if (alive->scheme == MODEL_RING)
        settle_late_frees(alive);
}

void
model_alive_first(struct model_alive *alive, uint32_t at)
{
    alive->first_at = at;
    alive->debt_now = MODEL_DEBT_NONE;
    alive->debt_next = MODEL_DEBT_NONE;
    alive->debt_after = MODEL_DEBT_NONE;
    settle_late_frees(alive);
}

/* ---- answer ---- */

static bool
is_overdue(const struct model_alive *alive)
{
    return alive->scheme == MODEL_RING &&
           (alive->debt_now == MODEL_DEBT_OVERDUE ||
            alive->debt_next == MODEL_DEBT_OVERDUE ||
            alive->debt_after == MODEL_DEBT_OVERDUE);
}

static bool
born_then(const struct model_alive *alive, const struct model_object *object,
          uint32_t k)
{
    return object->born_g < k || object->born_at < alive->first_at;
}

static bool
freed_then(const struct model_alive *alive, const struct model_object *object,
           uint32_t k)
{
    return object->dead_g <= k || object->explicit_g < k ||
           object->told_at < alive->first_at;
}

/*
 * k and the first snapshot only move on, so whoever was born, or gone, by then
 * stays so: the counts in the buckets go on from the last call.
 */
bool
model_alive_at(struct model_alive *alive, struct model_bucket *buckets,
               uint32_t *k)
{
    uint32_t kept = 0;

    *k = answer_k(alive);
    while (alive->births_done < alive->births_count) {
        const struct model_object *object =
            &alive->objects[alive->births[alive->births_done]];

        if (!born_then(alive, object, *k))
            break; /* then nobody younger was either */
        buckets[object->bucket].allocs_then++;
        alive->bytes_then += buckets[object->bucket].size_bytes;
        alive->births_done++;
    }
    for (uint32_t i = 0; i < alive->leaving_count; i++) {
        const struct model_object *object = &alive->objects[alive->leaving[i]];

        if (freed_then(alive, object, *k)) {
            buckets[object->bucket].frees_then++;
            alive->bytes_then -= buckets[object->bucket].size_bytes;
        } else {
            alive->leaving[kept++] = alive->leaving[i];
        }
    }
    alive->leaving_count = kept;
    return !is_overdue(alive) && !alive->frees_in_alloc_slot;
}
