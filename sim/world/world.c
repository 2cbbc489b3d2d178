/*
 * world.c -- the world of world.h.
 *
 *      event --> apply --> rule of the world --> library call(s)
 *                              |                      |
 *                              v                      v
 *                          truth log               answer
 *
 * Life of an object (enum sim_object_state):
 *
 *      UNBORN -> LIVE -> DROPPED -> DOOMED -> DEAD -> GONE
 *                  |        |        gc-mark  gc-     gc-sweep
 *                  +--------+--> GONE (free)  terminate
 *
 * Invariants
 *   I1  gc.dropped, gc.doomed and gc.dead count the objects in those states.
 *   I2  DOOMED objects exist only while gc.marking. An object born, or dropped,
 *       while the collector marks survives that marking.
 *   I3  a refused event changes nothing.
 *   I4  the truth log gets an entry before the library gets the call.
 *   I5  between calls the snapshot buffers are guard bytes, but for the first
 *       heap_dirty and contention_dirty records.
 */
#include "world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "world_inside.h"

#define GUARD_BYTE 0xa5

/* One record more than any snapshot may fill: its bytes must survive. */
static size_t
records_of(const struct sim_limits *limits)
{
    return (size_t)limits->buckets_max + 1;
}

uint32_t
sim_limits_truths(const struct sim_limits *limits)
{
    const uint32_t at_the_end = 32;

    if (limits->unlogged)
        return 0;
    return 4 * limits->events_max + limits->objects_max + at_the_end;
}

struct sim_world *
sim_world_new(const struct sim_limits *limits)
{
    const struct prof_config largest = {
        .buckets_max = limits->buckets_max,
        .frames_max = limits->frames_max,
        .procs_max = SIM_PROCS_MAX,
    };
    struct sim_world *world = calloc(1, sizeof *world);

    if (world == NULL)
        return NULL;
    world->limits = *limits;
    world->block_bytes = prof_bytes_needed(&largest);
    world->heap_dirty = records_of(limits);
    world->contention_dirty = records_of(limits);
    world->truth.entries_max = sim_limits_truths(limits);
    world->block = world->block_bytes == 0
                       ? NULL
                       : aligned_alloc(PROF_BLOCK_ALIGN, world->block_bytes);
    world->objects = calloc(limits->objects_max, sizeof *world->objects);
    world->truth.entries = calloc((size_t)world->truth.entries_max + 1,
                                  sizeof *world->truth.entries);
    world->answer.heap = calloc(records_of(limits), sizeof *world->answer.heap);
    world->answer.contention =
        calloc(records_of(limits), sizeof *world->answer.contention);
    if (world->block == NULL || world->objects == NULL ||
        world->truth.entries == NULL || world->answer.heap == NULL ||
        world->answer.contention == NULL) {
        sim_world_delete(world);
        return NULL;
    }
    return world;
}

void
sim_world_delete(struct sim_world *world)
{
    if (world == NULL)
        return;
    free(world->block);
    free(world->objects);
    free(world->truth.entries);
    free(world->answer.heap);
    free(world->answer.contention);
    free(world);
}

const char *
sim_world_reset(struct sim_world *world, const struct sim_config *config)
{
    const struct prof_config library = {
        .rules = &world->rules,
        .hash = config->hash,
        .buckets_max = config->buckets_max,
        .depth_max = config->depth_max,
        .frames_max = config->frames_max,
        .procs_max = config->procs,
        .cycle_first = config->cycle_first,
        .seed = config->seed,
    };
    size_t bytes;

    world->rules = config->rules != NULL ? *config->rules : prof_rules_exact;
    if (config->waiters_all)
        world->rules.waiters = PROF_WAITERS_ALL;
    bytes = prof_bytes_needed(&library);
    if (config->procs == 0 || config->procs > SIM_PROCS_MAX)
        return "the number of processors is out of range";
    if (bytes == 0)
        return prof_status_text(PROF_ERR_CONFIG);
    if (bytes > world->block_bytes ||
        config->buckets_max > world->limits.buckets_max)
        return "the configuration is larger than the world's limits";

    memset(world->block, 0, bytes);
    memset(world->objects, 0, world->objects_count * sizeof *world->objects);
    world->config = *config;
    world->objects_count = 0;
    world->truth.entries_count = 0;
    world->truth.lost = 0;
    world->truth.stacks = config->stacks;
    world->truth.stacks_count = config->stacks_count;
    world->gc = (struct sim_gc){0};
    if (world->locks_used || world->locks.units[1] == 0)
        sim_locks_reset(&world->locks);
    world->locks_used = false;
    world->answer.kind = SIM_EV_COUNT;
    world->now_ticks = 0;
    if (world->holds_used)
        memset(world->holds, 0, sizeof world->holds);
    world->holds_used = false;
    if (prof_init(&world->prof, &library, world->block, bytes) != PROF_OK)
        return "the library refused a block of the size it had asked for";
    prof_heap_rate_set(world->prof, 1);
    return NULL;
}

/* ------------------------------------------------------------------- helpers
 */

uint32_t
sim_world_proc_of(const struct sim_world *world, uint32_t task)
{
    return task % world->config.procs;
}

struct prof_proc *
sim_world_prof_proc(struct sim_world *world, uint32_t task)
{
    return prof_proc_at(world->prof, sim_world_proc_of(world, task));
}

int64_t
sim_world_clock(const struct sim_world *world, uint32_t proc)
{
    const struct sim_hold *hold = &world->holds[proc];
    uint64_t now_ticks = world->now_ticks;

    if (world->holds_used)
        now_ticks -= hold->lost_ticks + sim_world_frozen_ticks(world, proc);
    return sim_clock_read(&world->config.clocks[proc], now_ticks) +
           hold->jumped_ticks;
}

/* State a fact; what the event says is filled in. */
static void
log_fact(struct sim_world *world, enum truth_kind kind,
         const struct sim_event *event, uint32_t object, bool flag)
{
    uint32_t proc;
    struct truth_entry *entry;

    if (world->limits.unlogged)
        return;
    proc = sim_world_proc_of(world, event->task);
    entry = truth_next(&world->truth);
    entry->kind = kind;
    entry->proc = proc;
    entry->at_ticks = sim_world_clock(world, proc);
    entry->object = object;
    entry->stack = event->stack;
    entry->size_bytes = event->size_bytes;
    entry->cycles = event->cycles;
    entry->room = event->room;
    entry->task = 0;
    entry->lock = 0;
    entry->flag = flag;
}

/* The library's control calls cannot be busy: nothing runs beside them. */
static void
must_be_ok(enum prof_status status)
{
    assert(status == PROF_OK);
    (void)status;
}

static const char *
need_object(const struct sim_world *world, const struct sim_event *event,
            enum sim_object_state state)
{
    if (event->object < world->objects_count &&
        world->objects[event->object].state == state)
        return NULL;
    switch (state) {
    case SIM_LIVE:
        return "the object is not live";
    case SIM_DEAD:
        return "the object has not been found dead, or was swept already";
    case SIM_UNBORN:
    case SIM_DROPPED:
    case SIM_DOOMED:
    case SIM_GONE:
        break;
    }
    return "the object is not in the right state";
}

/* --------------------------------------------------------------- the program
 */

static const char *
apply_alloc(struct sim_world *world, const struct sim_event *event)
{
    const struct truth_stack *stack;
    struct sim_object *object;
    struct prof_proc *proc;

    if (event->object >= world->limits.objects_max)
        return "too many objects";
    object = &world->objects[event->object];
    if (object->state != SIM_UNBORN)
        return "the object was born before";
    if (event->stack >= world->config.stacks_count)
        return "there is no such stack";
    stack = &world->config.stacks[event->stack];
    log_fact(world, TRUTH_ALLOC, event, event->object, false);
    if (event->object >= world->objects_count)
        world->objects_count = event->object + 1;
    object->state = SIM_LIVE;
    object->task = event->task;
    proc = sim_world_prof_proc(world, event->task);
    object->bucket = PROF_BUCKET_NONE;
    if (prof_heap_sample(proc, event->size_bytes))
        object->bucket = prof_heap_alloc(proc, stack->frames, stack->depth,
                                         event->size_bytes);
    return NULL;
}

static void
drop(struct sim_world *world, const struct sim_event *event, uint32_t object)
{
    log_fact(world, TRUTH_DROP, event, object, false);
    world->objects[object].state = SIM_DROPPED;
    world->gc.dropped++;
}

static const char *
apply_drop(struct sim_world *world, const struct sim_event *event)
{
    const char *why = need_object(world, event, SIM_LIVE);

    if (why == NULL)
        drop(world, event, event->object);
    return why;
}

static const char *
apply_free(struct sim_world *world, const struct sim_event *event)
{
    const char *why = need_object(world, event, SIM_LIVE);

    if (why != NULL)
        return why;
    log_fact(world, TRUTH_FREE_EXPLICIT, event, event->object, false);
    world->objects[event->object].state = SIM_GONE;
    prof_heap_free_explicit(sim_world_prof_proc(world, event->task),
                            world->objects[event->object].bucket);
    return NULL;
}

static const char *
apply_task_exit(struct sim_world *world, const struct sim_event *event)
{
    if (sim_locks_waiting(&world->locks, event->task))
        return "the task waits";
    for (uint32_t i = 0; i < world->objects_count; i++) {
        if (world->objects[i].state == SIM_LIVE &&
            world->objects[i].task == event->task)
            drop(world, event, i);
    }
    return NULL;
}

/* ------------------------------------------------------------- the collector
 */

static const char *
apply_gc_mark(struct sim_world *world, const struct sim_event *event)
{
    struct sim_gc *gc = &world->gc;

    if (gc->marking)
        return "the collector is marking already";
    if (gc->dead > 0)
        return "the sweep of the collection before has not ended";
    log_fact(world, TRUTH_MARK, event, 0, false);
    for (uint32_t i = 0; i < world->objects_count && gc->dropped > 0; i++) {
        if (world->objects[i].state == SIM_DROPPED) {
            world->objects[i].state = SIM_DOOMED;
            gc->dropped--;
            gc->doomed++;
        }
    }
    gc->marking = true;
    return NULL;
}

static void
next_cycle(struct sim_world *world, const struct sim_event *event)
{
    log_fact(world, TRUTH_NEXT_CYCLE, event, 0, false);
    must_be_ok(prof_heap_next_cycle(world->prof));
}

static void
flush(struct sim_world *world, const struct sim_event *event)
{
    log_fact(world, TRUTH_FLUSH, event, 0, false);
    must_be_ok(prof_heap_flush(world->prof));
}

static void
sweep(struct sim_world *world, const struct sim_event *event, uint32_t object)
{
    log_fact(world, TRUTH_SWEEP, event, object, false);
    world->objects[object].state = SIM_GONE;
    world->gc.dead--;
    prof_heap_free(sim_world_prof_proc(world, event->task),
                   world->objects[object].bucket);
}

static const char *
apply_gc_terminate(struct sim_world *world, const struct sim_event *event)
{
    const bool stw_sweep = event->kind == SIM_EV_GC_TERMINATE_STW;
    struct sim_gc *gc = &world->gc;

    if (!gc->marking)
        return "the collector is not marking";
    for (uint32_t i = 0; i < world->objects_count && gc->doomed > 0; i++) {
        if (world->objects[i].state == SIM_DOOMED) {
            log_fact(world, TRUTH_DEAD, event, i, false);
            world->objects[i].state = SIM_DEAD;
            gc->doomed--;
            gc->dead++;
        }
    }
    log_fact(world, TRUTH_TERMINATE, event, 0, stw_sweep);
    if (stw_sweep) {
        for (uint32_t i = 0; i < world->objects_count && gc->dead > 0; i++) {
            if (world->objects[i].state == SIM_DEAD)
                sweep(world, event, i);
        }
        next_cycle(world, event);
        flush(world, event);
    }
    next_cycle(world, event);
    /* Go 1.6 was late after a concurrent sweep only: here it still stopped. */
    if (stw_sweep && world->rules.heap == PROF_HEAP_STAGES &&
        world->rules.turn == PROF_TURN_RESTARTED)
        flush(world, event);
    gc->marking = false;
    gc->unflushed = true;
    gc->post_swept = false;
    gc->cycles++;
    return NULL;
}

static const char *
apply_gc_flush(struct sim_world *world, const struct sim_event *event)
{
    flush(world, event);
    world->gc.unflushed = false;
    return NULL;
}

static const char *
apply_gc_sweep(struct sim_world *world, const struct sim_event *event)
{
    const char *why = need_object(world, event, SIM_DEAD);

    if (why == NULL)
        sweep(world, event, event->object);
    return why;
}

static const char *
apply_gc_post_sweep(struct sim_world *world, const struct sim_event *event)
{
    log_fact(world, TRUTH_POST_SWEEP, event, 0, false);
    must_be_ok(prof_heap_post_sweep(world->prof));
    world->gc.post_swept = true;
    return NULL;
}

/* ------------------------------------------------------------------ reading */

/* Are these bytes, at least one, all GUARD_BYTE? */
static bool
is_guard(const void *bytes, size_t bytes_count)
{
    const unsigned char *byte = bytes;

    return byte[0] == GUARD_BYTE &&
           memcmp(byte, byte + 1, bytes_count - 1) == 0;
}

/*
 * Read into a buffer that is all guard bytes, one record longer than the room
 * the library is told of. What a call wrote is made guard again by the next.
 */
static void
read_heap(struct sim_world *world, enum prof_select select, size_t room)
{
    struct sim_answer *answer = &world->answer;
    const size_t size = sizeof *answer->heap;
    size_t written;

    memset(answer->heap, GUARD_BYTE, world->heap_dirty * size);
    answer->status = prof_heap_snapshot(world->prof, select, answer->heap, room,
                                        &answer->count);
    written = answer->status == PROF_OK ? answer->count : 0;
    answer->touched_beyond =
        written > room ||
        (!world->limits.unlogged &&
         !is_guard(&answer->heap[written], (room + 1 - written) * size));
    world->heap_dirty = answer->touched_beyond ? room + 1 : written;
}

static void
read_contention(struct sim_world *world, enum prof_contention kind, size_t room)
{
    struct sim_answer *answer = &world->answer;
    struct prof_contention_record *records = answer->contention;
    const size_t size = sizeof *records;
    size_t written;

    memset(records, GUARD_BYTE, world->contention_dirty * size);
    answer->status = prof_contention_snapshot(world->prof, kind, records, room,
                                              &answer->count);
    written = answer->status == PROF_OK ? answer->count : 0;
    answer->touched_beyond =
        written > room ||
        !is_guard(&records[written], (room + 1 - written) * size);
    world->contention_dirty = answer->touched_beyond ? room + 1 : written;
}

static void
keep_record(void *context, const struct prof_heap_record *record)
{
    struct sim_world *world = context;

    if (world->answer.count < world->config.buckets_max)
        world->answer.heap[world->answer.count++] = *record;
    else
        world->answer.touched_beyond = true; /* more buckets than possible */
}

static const char *
apply_reading(struct sim_world *world, const struct sim_event *event)
{
    const size_t room = event->room < world->config.buckets_max
                            ? event->room
                            : world->config.buckets_max;
    const bool all = event->kind == SIM_EV_SNAPSHOT_ALL;
    const bool publishes = event->kind == SIM_EV_SNAPSHOT || all;

    if (world->limits.unlogged && !publishes)
        return NULL; /* it changes nothing, and nobody asks what it shows */
    world->answer.kind = event->kind;
    if (publishes) {
        log_fact(world, TRUTH_SNAPSHOT, event, 0, all);
        read_heap(world, all ? PROF_SELECT_ALL : PROF_SELECT_INUSE, room);
    } else if (event->kind == SIM_EV_ITERATE) {
        log_fact(world, TRUTH_ITERATE, event, 0, false);
        world->answer.status = PROF_OK;
        world->answer.count = 0;
        world->answer.touched_beyond = false;
        prof_heap_iterate(world->prof, keep_record, world);
        if (world->answer.count > world->heap_dirty)
            world->heap_dirty = world->answer.count;
    } else {
        const bool block = event->kind == SIM_EV_BLOCK_SNAPSHOT;

        log_fact(world, block ? TRUTH_BLOCK_SNAPSHOT : TRUTH_MUTEX_SNAPSHOT,
                 event, 0, false);
        read_contention(world, block ? PROF_BLOCK : PROF_MUTEX, room);
    }
    return NULL;
}

/* ---------------------------------------------------------------- the events
 */

static const char *
apply(struct sim_world *world, const struct sim_event *event)
{
    switch (event->kind) {
    case SIM_EV_ALLOC:
        return apply_alloc(world, event);
    case SIM_EV_DROP:
        return apply_drop(world, event);
    case SIM_EV_FREE:
        return apply_free(world, event);
    case SIM_EV_TASK_EXIT:
        return apply_task_exit(world, event);
    case SIM_EV_BLOCK:
    case SIM_EV_MUTEX:
        return sim_world_apply_contention(world, event);
    case SIM_EV_LOCK:
    case SIM_EV_UNLOCK:
    case SIM_EV_LOCK_SHARED:
    case SIM_EV_UNLOCK_SHARED:
    case SIM_EV_WAIT:
    case SIM_EV_SIGNAL:
    case SIM_EV_BROADCAST:
    case SIM_EV_ACQUIRE:
    case SIM_EV_RELEASE:
    case SIM_EV_SEND:
    case SIM_EV_RECEIVE:
        return sim_world_apply_lock(world, event);
    case SIM_EV_CLOCK_JUMP:
        return sim_world_apply_jump(world, event);
    case SIM_EV_CLOCK_FREEZE:
    case SIM_EV_STALL:
        return sim_world_apply_hold(world, event);
    case SIM_EV_BLOCK_RATE:
    case SIM_EV_MUTEX_FRACTION:
    case SIM_EV_HEAP_RATE:
        return sim_world_apply_rate(world, event);
    case SIM_EV_GC_MARK:
        return apply_gc_mark(world, event);
    case SIM_EV_GC_TERMINATE:
    case SIM_EV_GC_TERMINATE_STW:
        return apply_gc_terminate(world, event);
    case SIM_EV_GC_FLUSH:
        return apply_gc_flush(world, event);
    case SIM_EV_GC_SWEEP:
        return apply_gc_sweep(world, event);
    case SIM_EV_GC_POST_SWEEP:
        return apply_gc_post_sweep(world, event);
    case SIM_EV_SNAPSHOT:
    case SIM_EV_SNAPSHOT_ALL:
    case SIM_EV_ITERATE:
    case SIM_EV_BLOCK_SNAPSHOT:
    case SIM_EV_MUTEX_SNAPSHOT:
        return apply_reading(world, event);
    case SIM_EV_COUNT:
        break;
    }
    return "there is no such event";
}

const char *
sim_world_apply(struct sim_world *world, const struct sim_event *event)
{
    const uint64_t before_ticks = world->now_ticks;
    const char *why;

    world->answer.kind = SIM_EV_COUNT;
    world->now_ticks += event->delay_ticks;
    why = world->holds_used && sim_world_stalls(world, event->task)
              ? "the processor stands still"
              : apply(world, event);
    if (why != NULL)
        world->now_ticks = before_ticks;
    return why;
}

/* ----------------------------------------------------------------- observers
 */

struct prof *
sim_world_prof(struct sim_world *world)
{
    return world->prof;
}

const struct truth_log *
sim_world_truth(const struct sim_world *world)
{
    return &world->truth;
}

const struct sim_config *
sim_world_config(const struct sim_world *world)
{
    return &world->config;
}

const struct sim_gc *
sim_world_gc(const struct sim_world *world)
{
    return &world->gc;
}

const struct sim_answer *
sim_world_answer(const struct sim_world *world)
{
    return &world->answer;
}

uint64_t
sim_world_now_ticks(const struct sim_world *world)
{
    return world->now_ticks;
}

uint32_t
sim_world_objects_count(const struct sim_world *world)
{
    return world->objects_count;
}

const struct sim_object *
sim_world_object(const struct sim_world *world, uint32_t object)
{
    return &world->objects[object];
}

const struct sim_locks *
sim_world_locks(const struct sim_world *world)
{
    return &world->locks;
}

bool
sim_world_task_waits(const struct sim_world *world, uint32_t task)
{
    return sim_locks_waiting(&world->locks, task);
}

bool
sim_world_task_holds(const struct sim_world *world, uint32_t task,
                     uint32_t lock, bool shares)
{
    return sim_locks_holding(&world->locks, task, lock, shares);
}

uint32_t
sim_world_find(const struct sim_world *world, enum sim_object_state state,
               uint32_t from)
{
    while (from < world->objects_count && world->objects[from].state != state)
        from++;
    return from;
}
