/*
 * instrument_heap.c -- the heap profile as an instrument of a world.
 *
 * Invariant
 *   I1  between calls the snapshot buffer holds guard bytes, except in its
 *       first `dirty` records and where a faulty library wrote.
 */
#include "sim/instruments/instrument_heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/instruments/guard.h"

struct heap_profile {
    struct sim_instrument base;
    prof_bucket *buckets; /* by object */
    struct prof_heap_record *records;
    size_t records_max;
    size_t dirty; /* records that are not guard bytes */
};

static void
destroy(struct sim_instrument *instrument)
{
    struct heap_profile *heap = (struct heap_profile *)instrument;

    free(heap->buckets);
    free(heap->records);
    free(heap);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct heap_profile *heap = calloc(1, sizeof *heap);

    if (heap == NULL)
        return NULL;
    heap->base.kind = &sim_heap_profile;
    heap->records_max = (size_t)limits->buckets_max + 1;
    heap->buckets = calloc(limits->objects_max, sizeof *heap->buckets);
    heap->records = calloc(heap->records_max, sizeof *heap->records);
    if (heap->buckets != NULL && heap->records != NULL)
        return &heap->base;
    destroy(&heap->base);
    return NULL;
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct heap_profile *heap = (struct heap_profile *)instrument;

    sim_world_answer_room(world)->heap = heap->records;
    heap->dirty = heap->records_max; /* the previous run may have written all */
    return NULL;
}

/*
 * Snapshot into a buffer of guard bytes that is one record longer than the room
 * passed to the library. Each call restores the guard bytes that the previous
 * call overwrote.
 */
static void
hear_snapshot(struct sim_instrument *instrument, struct sim_world *world,
              const struct truth_entry *fact)
{
    struct heap_profile *heap = (struct heap_profile *)instrument;
    struct sim_answer *answer = sim_world_answer_room(world);
    const size_t size = sizeof *heap->records;
    const uint32_t most = sim_world_config(world)->buckets_max;
    const size_t room = fact->room < most ? fact->room : most;
    size_t written;

    memset(heap->records, SIM_GUARD_BYTE, heap->dirty * size);
    answer->kind = fact->flag ? SIM_EV_SNAPSHOT_ALL : SIM_EV_SNAPSHOT;
    answer->status = prof_heap_snapshot(
        sim_world_prof(world), fact->flag ? PROF_SELECT_ALL : PROF_SELECT_INUSE,
        heap->records, room, &answer->count);
    written = answer->status == PROF_OK ? answer->count : 0;
    answer->is_too_long = written > room;
    answer->beyond = &heap->records[written];
    answer->beyond_bytes =
        answer->is_too_long ? 0 : (room + 1 - written) * size;
    heap->dirty = answer->is_too_long ? room + 1 : written;
}

static void
keep_record(void *context, const struct prof_heap_record *record)
{
    struct sim_world *world = context;
    struct sim_answer *answer = sim_world_answer_room(world);

    if (answer->count < sim_world_config(world)->buckets_max)
        answer->heap[answer->count++] = *record;
    else
        answer->is_too_long = true; /* more buckets than there can be */
}

static void
hear_iterate(struct sim_instrument *instrument, struct sim_world *world,
             const struct truth_entry *fact)
{
    struct heap_profile *heap = (struct heap_profile *)instrument;
    struct sim_answer *answer = sim_world_answer_room(world);

    (void)fact;
    answer->kind = SIM_EV_ITERATE;
    answer->status = PROF_OK;
    answer->count = 0;
    answer->is_too_long = false;
    answer->beyond_bytes = 0;
    prof_heap_iterate(sim_world_prof(world), keep_record, world);
    if (answer->count > heap->dirty)
        heap->dirty = answer->count;
}

static void
hear_alloc(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    struct heap_profile *heap = (struct heap_profile *)instrument;
    const struct truth_stack *stack =
        &sim_world_config(world)->stacks[fact->stack];
    struct prof_proc *proc = prof_proc_at(sim_world_prof(world), fact->proc);

    heap->buckets[fact->object] =
        prof_heap_sample(proc, fact->size_bytes)
            ? prof_heap_alloc(proc, stack->frames, stack->depth,
                              fact->size_bytes)
            : PROF_BUCKET_NONE;
}

static void
hear_free(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    const struct heap_profile *heap = (struct heap_profile *)instrument;

    prof_heap_free_explicit(prof_proc_at(sim_world_prof(world), fact->proc),
                            heap->buckets[fact->object]);
}

static void
hear_sweep(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    const struct heap_profile *heap = (struct heap_profile *)instrument;

    prof_heap_free(prof_proc_at(sim_world_prof(world), fact->proc),
                   heap->buckets[fact->object]);
}

/* Control calls cannot return PROF_ERR_BUSY: nothing runs beside them. */
static void
must_be_ok(enum prof_status status)
{
    assert(status == PROF_OK);
    (void)status;
}

static void
hear_next_cycle(struct sim_instrument *instrument, struct sim_world *world,
                const struct truth_entry *fact)
{
    (void)instrument;
    (void)fact;
    must_be_ok(prof_heap_next_cycle(sim_world_prof(world)));
}

static void
hear_flush(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    (void)instrument;
    (void)fact;
    must_be_ok(prof_heap_flush(sim_world_prof(world)));
}

static void
hear_post_sweep(struct sim_instrument *instrument, struct sim_world *world,
                const struct truth_entry *fact)
{
    (void)instrument;
    (void)fact;
    must_be_ok(prof_heap_post_sweep(sim_world_prof(world)));
}

static void
hear_rate(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    (void)instrument;
    prof_heap_rate_set(sim_world_prof(world), fact->cycles);
}

static sim_hear *
hears(enum truth_kind kind)
{
    switch ((int)kind) {
    case TRUTH_ALLOC:
        return hear_alloc;
    case TRUTH_FREE_EXPLICIT:
        return hear_free;
    case TRUTH_SWEEP:
        return hear_sweep;
    case TRUTH_SNAPSHOT:
        return hear_snapshot;
    case TRUTH_ITERATE:
        return hear_iterate;
    case TRUTH_NEXT_CYCLE:
        return hear_next_cycle;
    case TRUTH_FLUSH:
        return hear_flush;
    case TRUTH_POST_SWEEP:
        return hear_post_sweep;
    case TRUTH_HEAP_RATE:
        return hear_rate;
    default:
        return NULL;
    }
}

/* Objects allocated meanwhile are not in the profile, nor are their frees. */
static void
stop(struct sim_instrument *instrument, struct sim_world *world, bool stops)
{
    (void)instrument;
    prof_heap_rate_set(sim_world_prof(world), stops ? 0 : 1);
}

const struct sim_instrument_kind sim_heap_profile = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
    .stop = stop,
};

prof_bucket
sim_heap_bucket(const struct sim_world *world, uint32_t object)
{
    const struct heap_profile *heap =
        (const struct heap_profile *)sim_world_instrument(world,
                                                          SIM_HEAP_PROFILE);

    return heap->buckets[object];
}
