/*
 * sessions.c -- where processors take tasks: requests to start and stop
 * tracing, reads of the trace, and the collector's helpers.
 *
 * Starting or stopping a trace stops the world, sweeps included.
 */
#include "sim/world/world_internal.h"

/* Scanning and sweeping differ only in their facts. */
const char *
sim_world_apply_gc_work(struct sim_world *world, const struct sim_event *event)
{
    const bool scan =
        event->kind == SIM_EV_SCAN_START || event->kind == SIM_EV_SCAN_DONE;
    const bool begins =
        event->kind == SIM_EV_SCAN_START || event->kind == SIM_EV_SWEEP_START;
    struct sim_proc *proc = &world->procs[event->proc];
    bool *works = scan ? &proc->scans : &proc->sweeps;
    enum truth_kind kind;

    if (!proc->has_thread)
        return "the processor has no thread";
    if (*works == begins)
        return begins ? "the processor does that already"
                      : "the processor does not do that";
    *works = begins;
    if (scan)
        kind = begins ? TRUTH_SCAN_START : TRUTH_SCAN_DONE;
    else
        kind = begins ? TRUTH_SWEEP_START : TRUTH_SWEEP_DONE;
    sim_world_fact(world, kind, event->proc, 0, 0,
                   begins && !scan ? event->stack : TRUTH_NO_STACK);
    return NULL;
}

const char *
sim_world_apply_number(struct sim_world *world, const struct sim_event *event)
{
    if (!world->procs[event->proc].has_thread)
        return "the processor has no thread";
    sim_world_fact(world, event->kind == SIM_EV_HEAP ? TRUTH_HEAP : TRUTH_GOAL,
                   event->proc, 0, event->size_bytes, TRUTH_NO_STACK);
    return NULL;
}

const char *
sim_world_apply_timers(struct sim_world *world, const struct sim_event *event)
{
    if (event->object > world->tasks_count)
        return "there is no such task";
    sim_world_state(world, event->proc,
                    (struct truth_entry){.kind = TRUTH_TIMERS,
                                         .proc = TRUTH_NO_PROC,
                                         .object = event->object,
                                         .stack = TRUTH_NO_STACK});
    return NULL;
}

/* Note whether tracing is requested. */
static void
state_trace(struct sim_world *world, enum truth_kind kind, uint32_t proc,
            uint64_t value, uint32_t stack)
{
    world->traces = kind == TRUTH_TRACE_START;
    world->unread |= kind == TRUTH_TRACE_START;
    sim_world_state(world, proc,
                    (struct truth_entry){
                        .kind = kind,
                        .proc = proc,
                        .stack = stack,
                        .size_bytes = value,
                        .task = world->procs[proc].task,
                    });
}

const char *
sim_world_apply_trace_start(struct sim_world *world,
                            const struct sim_event *event)
{
    if (!sim_world_runs(world, event->proc))
        return sim_not_running;
    if (world->traces || world->unread)
        return NULL; /* the tracer must refuse it */
    sim_stop_world(world, event->proc);
    for (uint32_t id = 1; id <= world->tasks_count; id++)
        world->tasks[id].was_woken = false;
    state_trace(world, TRUTH_TRACE_START, event->proc, world->threads,
                TRUTH_NO_STACK);
    /* The world goes on with as many processors as before. */
    sim_world_fact(world, TRUTH_PROCS, event->proc, 0, world->procs_count,
                   event->stack);
    return NULL;
}

const char *
sim_world_apply_trace_stop(struct sim_world *world,
                           const struct sim_event *event)
{
    if (!sim_world_runs(world, event->proc))
        return sim_not_running;
    if (!world->traces)
        return NULL; /* the tracer must refuse it */
    sim_stop_world(world, event->proc);
    state_trace(world, TRUTH_TRACE_STOP, event->proc, 0, event->stack);
    return NULL;
}

/* The goroutine profile: stops the world. */
const char *
sim_world_apply_goroutines(struct sim_world *world,
                           const struct sim_event *event)
{
    if (!sim_world_runs(world, event->proc))
        return sim_not_running;
    sim_stop_world(world, event->proc);
    if (event->stack != TRUTH_NO_STACK)
        world->tasks[world->procs[event->proc].task].stack = event->stack;
    sim_world_state(world, event->proc,
                    (struct truth_entry){
                        .kind = TRUTH_GOROUTINES,
                        .proc = event->proc,
                        .stack = event->stack,
                        .room = event->room,
                        .task = world->procs[event->proc].task,
                    });
    /* The world goes on with as many processors as before. */
    sim_world_fact(world, TRUTH_PROCS, event->proc, 0, world->procs_count,
                   event->stack);
    return NULL;
}

const char *
sim_world_apply_cpu(struct sim_world *world, const struct sim_event *event)
{
    sim_world_fact(world,
                   event->kind == SIM_EV_CPU_START ? TRUTH_CPU_START
                                                   : TRUTH_CPU_STOP,
                   event->proc, 0, event->size_bytes, TRUTH_NO_STACK);
    return NULL;
}

const char *
sim_world_apply_reader(struct sim_world *world, const struct sim_event *event)
{
    const bool stalls = event->kind == SIM_EV_READER_STALL;

    if (world->reader_stalls == stalls)
        return stalls ? "the reader stands still already"
                      : "the reader does not stand still";
    world->reader_stalls = stalls;
    sim_world_fact(world, stalls ? TRUTH_READER_STALL : TRUTH_READER_BACK,
                   event->proc, 0, 0, TRUTH_NO_STACK);
    return NULL;
}

/* The tracer's instrument makes the reader act. */
const char *
sim_world_apply_read(struct sim_world *world, const struct sim_event *event)
{
    (void)world;
    (void)event;
    return NULL;
}

void
sim_world_was_read(struct sim_world *world, uint32_t clock_proc)
{
    world->unread = false;
    sim_world_state(world, clock_proc,
                    (struct truth_entry){.kind = TRUTH_TRACE_READ,
                                         .proc = TRUTH_NO_PROC,
                                         .stack = TRUTH_NO_STACK});
}
