/*
 * sched_hold.c -- what faults do to a traced world: a reader, processors and
 * clocks that stand still, and clocks that jump.
 *
 * Nothing happens on a processor that stands still, and the world cannot be
 * stopped meanwhile, for that waits for all processors. What happens on none
 * goes on, and so does the time of the world.
 */
#include "sched_inside.h"

uint64_t
sim_sched_clock_now(const struct sim_sched_world *world, uint32_t proc)
{
    const struct sim_sched_proc *p = &world->procs[proc];
    const uint64_t end =
        world->now_ticks < p->thaws_ticks ? world->now_ticks : p->thaws_ticks;

    return world->now_ticks - p->lost_ticks - (end - p->frozen_ticks);
}

bool
sim_sched_world_stalls(const struct sim_sched_world *world)
{
    for (uint32_t p = 0; p < world->procs_count; p++) {
        if (world->procs[p].stalls)
            return true;
    }
    return false;
}

/* Does the event need no processor, only somebody's clock? */
static bool
is_elsewhere(enum sim_sched_kind kind)
{
    return kind == SIM_SCHED_LEFT || kind == SIM_SCHED_QUEUED ||
           kind == SIM_SCHED_WAKE_OUTSIDE || kind == SIM_SCHED_TIMERS ||
           kind == SIM_SCHED_READ || kind >= SIM_SCHED_READER_STALL;
}

static bool
stops_world(const struct sim_sched_world *world, enum sim_sched_kind kind)
{
    return kind == SIM_SCHED_PROCS ||
           (kind == SIM_SCHED_TRACE_START && !world->traces &&
            !world->is_unread) ||
           (kind == SIM_SCHED_TRACE_STOP && world->traces);
}

const char *
sim_sched_held(const struct sim_sched_world *world,
               const struct sim_sched_event *event)
{
    if (world->procs[event->proc].stalls && !is_elsewhere(event->kind))
        return "the processor stands still";
    if (stops_world(world, event->kind) && sim_sched_world_stalls(world))
        return "a processor stands still, so the world cannot be stopped";
    if (event->kind == SIM_SCHED_READ && world->reader_stalls)
        return "the reader stands still";
    return NULL;
}

static const char *
apply_reader(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    const bool stalls = event->kind == SIM_SCHED_READER_STALL;

    if (world->reader_stalls == stalls)
        return stalls ? "the reader stands still already"
                      : "the reader does not stand still";
    world->reader_stalls = stalls;
    sim_sched_fact(world, stalls ? STEP_READER_STALL : STEP_READER_BACK,
                   event->proc, 0, 0, TRUTH_NO_STACK);
    return NULL;
}

static const char *
apply_stall(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    struct sim_sched_proc *proc = &world->procs[event->proc];
    const bool stalls = event->kind == SIM_SCHED_STALL;

    if (proc->stalls == stalls)
        return stalls ? "the processor stands still already"
                      : "the processor does not stand still";
    proc->stalls = stalls;
    sim_sched_fact(world, stalls ? STEP_STALL : STEP_GO_ON, event->proc, 0, 0,
                   TRUTH_NO_STACK);
    return NULL;
}

static const char *
apply_clock(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    struct sim_sched_proc *proc = &world->procs[event->proc];
    uint64_t by = event->number;

    if (world->config.is_by_clock)
        return "the order is the clock's, so nothing may move it";
    if (event->kind == SIM_SCHED_CLOCK_BACK)
        by = 0 - by;
    if (event->kind != SIM_SCHED_CLOCK_FREEZE) {
        proc->moved_ticks += by;
        sim_sched_fact(world, STEP_CLOCK, event->proc, 0, by, TRUTH_NO_STACK);
        return NULL;
    }
    if (by >> SIM_SCHED_SPAN_BITS != 0)
        return "the world ends before the clock goes on";
    proc->lost_ticks =
        world->now_ticks - sim_sched_clock_now(world, event->proc);
    proc->frozen_ticks = world->now_ticks;
    proc->thaws_ticks = world->now_ticks + by;
    sim_sched_fact(world, STEP_CLOCK_FREEZE, event->proc, 0, by,
                   TRUTH_NO_STACK);
    return NULL;
}

const char *
sim_sched_apply_hold(struct sim_sched_world *world,
                     const struct sim_sched_event *event)
{
    if (event->kind == SIM_SCHED_READER_STALL ||
        event->kind == SIM_SCHED_READER_BACK)
        return apply_reader(world, event);
    if (event->kind == SIM_SCHED_STALL || event->kind == SIM_SCHED_GO_ON)
        return apply_stall(world, event);
    return apply_clock(world, event);
}
