/*
 * objects.c -- the objects of a world and its collector.
 *
 * The states of an object (enum sim_object_state):
 *
 *      UNBORN -> LIVE -> DROPPED -> DOOMED -> DEAD -> GONE
 *                  |        |        gc-mark  gc-     gc-sweep
 *                  +--------+--> GONE (free)  terminate
 *
 * Invariants
 *   I1  gc.dropped, gc.doomed and gc.dead count the objects in these three
 *       states.
 *   I2  DOOMED objects exist only while gc.marking is set. An object that is
 *       allocated or dropped while the collector marks survives that marking.
 *   I3  heap_bytes is the total size of all objects allocated and not GONE.
 *   I4  objects below objects_gone are GONE, and stay so.
 */
#include "sim/world/world_internal.h"

/* Where processors take tasks: state the size of the heap, as a runtime reports
 * it. */
static void
report_heap(struct sim_world *world, const struct sim_event *event,
            enum truth_kind kind, uint64_t bytes)
{
    if (world->config.scheduled)
        sim_world_fact(world, kind, sim_world_proc_of(world, event), 0, bytes,
                       TRUTH_NO_STACK);
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

const char *
sim_world_apply_alloc(struct sim_world *world, const struct sim_event *event)
{
    struct sim_object *object;

    if (event->object >= world->limits.objects_max)
        return "too many objects";
    object = &world->objects[event->object];
    if (object->state != SIM_UNBORN)
        return "the object was born before";
    if (event->stack >= world->config.stacks_count)
        return "there is no such stack";
    if (event->object >= world->objects_count)
        world->objects_count = event->object + 1;
    object->state = SIM_LIVE;
    object->task = event->task;
    object->size_bytes = event->size_bytes;
    world->heap_bytes += event->size_bytes;
    sim_world_log(world, TRUTH_ALLOC, event, event->object, false);
    report_heap(world, event, TRUTH_HEAP, world->heap_bytes);
    return NULL;
}

static void
drop(struct sim_world *world, const struct sim_event *event, uint32_t object)
{
    sim_world_log(world, TRUTH_DROP, event, object, false);
    world->objects[object].state = SIM_DROPPED;
    world->gc.dropped++;
}

const char *
sim_world_apply_drop(struct sim_world *world, const struct sim_event *event)
{
    const char *why = need_object(world, event, SIM_LIVE);

    if (why == NULL)
        drop(world, event, event->object);
    return why;
}

static void
end_life(struct sim_world *world, uint32_t object)
{
    world->objects[object].state = SIM_GONE;
    world->heap_bytes -= world->objects[object].size_bytes;
    while (world->objects_gone < world->objects_count &&
           world->objects[world->objects_gone].state == SIM_GONE)
        world->objects_gone++;
}

const char *
sim_world_apply_free(struct sim_world *world, const struct sim_event *event)
{
    const char *why = need_object(world, event, SIM_LIVE);

    if (why != NULL)
        return why;
    end_life(world, event->object);
    sim_world_log(world, TRUTH_FREE_EXPLICIT, event, event->object, false);
    report_heap(world, event, TRUTH_HEAP, world->heap_bytes);
    return NULL;
}

/* Drop all objects of the task. */
static void
drop_all(struct sim_world *world, const struct sim_event *event)
{
    for (uint32_t i = world->objects_gone; i < world->objects_count; i++) {
        if (world->objects[i].state == SIM_LIVE &&
            world->objects[i].task == event->task)
            drop(world, event, i);
    }
}

const char *
sim_world_apply_exit(struct sim_world *world, const struct sim_event *event)
{
    if (world->config.scheduled)
        return "where processors take tasks, they end with 'end'";
    if (sim_locks_waiting(&world->locks, event->task))
        return "the task waits";
    drop_all(world, event);
    return NULL;
}

void
sim_drop_all(struct sim_world *world, uint32_t proc)
{
    const struct sim_event event = {
        .kind = SIM_EV_TASK_EXIT,
        .task = world->procs[proc].task,
    };

    drop_all(world, &event);
}

/* ---- the collector ---- */

const char *
sim_world_apply_gc_mark(struct sim_world *world, const struct sim_event *event)
{
    struct sim_gc *gc = &world->gc;

    if (gc->marking)
        return "the collector is marking already";
    if (gc->dead > 0)
        return "the sweep of the collection before has not ended";
    sim_world_log(world, TRUTH_MARK, event, 0, false);
    for (uint32_t i = world->objects_gone;
         i < world->objects_count && gc->dropped > 0; i++) {
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
    sim_world_log(world, TRUTH_NEXT_CYCLE, event, 0, false);
}

static void
flush(struct sim_world *world, const struct sim_event *event)
{
    sim_world_log(world, TRUTH_FLUSH, event, 0, false);
}

static void
sweep(struct sim_world *world, const struct sim_event *event, uint32_t object)
{
    end_life(world, object);
    world->gc.dead--;
    sim_world_log(world, TRUTH_SWEEP, event, object, false);
    report_heap(world, event, TRUTH_HEAP, world->heap_bytes);
}

const char *
sim_world_apply_gc_terminate(struct sim_world *world,
                             const struct sim_event *event)
{
    const bool stw_sweep = event->kind == SIM_EV_GC_TERMINATE_STW;
    struct sim_gc *gc = &world->gc;

    if (!gc->marking)
        return "the collector is not marking";
    for (uint32_t i = world->objects_gone;
         i < world->objects_count && gc->doomed > 0; i++) {
        if (world->objects[i].state == SIM_DOOMED) {
            sim_world_log(world, TRUTH_DEAD, event, i, false);
            world->objects[i].state = SIM_DEAD;
            gc->doomed--;
            gc->dead++;
        }
    }
    sim_world_log(world, TRUTH_TERMINATE, event, 0, stw_sweep);
    if (stw_sweep) {
        for (uint32_t i = world->objects_gone;
             i < world->objects_count && gc->dead > 0; i++) {
            if (world->objects[i].state == SIM_DEAD)
                sweep(world, event, i);
        }
        next_cycle(world, event);
        flush(world, event);
    }
    next_cycle(world, event);
    /* Go 1.6 was late after a concurrent sweep only: here it still stopped. */
    if (stw_sweep && world->rules.heap == PROF_HEAP_STAGES &&
        world->rules.rotate == PROF_ROTATE_RESTARTED)
        flush(world, event);
    if (world->objects_count > 0)
        report_heap(world, event, TRUTH_GOAL, 2 * world->heap_bytes);
    gc->marking = false;
    gc->unflushed = true;
    gc->post_swept = false;
    gc->cycles++;
    return NULL;
}

const char *
sim_world_apply_gc_flush(struct sim_world *world, const struct sim_event *event)
{
    flush(world, event);
    world->gc.unflushed = false;
    return NULL;
}

const char *
sim_world_apply_gc_sweep(struct sim_world *world, const struct sim_event *event)
{
    const char *why = need_object(world, event, SIM_DEAD);

    if (world->config.scheduled && !world->procs[event->proc].sweeps)
        return "the processor does not sweep";
    if (why == NULL)
        sweep(world, event, event->object);
    return why;
}

const char *
sim_world_apply_gc_post_sweep(struct sim_world *world,
                              const struct sim_event *event)
{
    sim_world_log(world, TRUTH_POST_SWEEP, event, 0, false);
    world->gc.post_swept = true;
    return NULL;
}
