/* facts.c -- facts of a world: what goes to the truth log, and when. */
#include "sim/world/world_internal.h"

uint32_t
sim_world_proc_of(const struct sim_world *world, const struct sim_event *event)
{
    if (!world->config.scheduled)
        return event->task % world->config.procs;
    return sim_event_by(event->kind) == 't' ? world->tasks[event->task].proc
                                            : event->proc;
}

uint64_t
sim_world_now_ns(const struct sim_world *world)
{
    const uint64_t ticks_per_us = world->config.trace.ticks_per_us;

    return ticks_per_us == 0 ? 0 : world->now_ticks * 1000 / ticks_per_us;
}

uint64_t
sim_world_frozen_ticks(const struct sim_world *world, uint32_t proc)
{
    const struct sim_clock_fault *fault = &world->clock_faults[proc];

    return (world->now_ticks < fault->thaws_ticks ? world->now_ticks
                                                  : fault->thaws_ticks) -
           fault->frozen_ticks;
}

int64_t
sim_world_clock(const struct sim_world *world, uint32_t proc)
{
    return sim_world_reads(world, proc);
}

void
sim_world_fact(struct sim_world *world, enum truth_kind kind, uint32_t proc,
               uint32_t other, uint64_t value, uint32_t stack)
{
    const uint32_t task = world->procs[proc].task;

    if (task != 0 && stack != TRUTH_NO_STACK)
        world->tasks[task].stack = stack;
    sim_world_state(world, proc,
                    (struct truth_entry){
                        .kind = kind,
                        .proc = proc,
                        .object = other,
                        .stack = stack,
                        .size_bytes = value,
                        .task = task,
                    });
}

void
sim_world_log_scheduled(struct sim_world *world, enum truth_kind kind,
                        const struct sim_event *event, uint32_t object,
                        bool flag)
{
    const uint32_t proc = sim_world_proc_of(world, event);

    sim_world_state(world, proc,
                    (struct truth_entry){
                        .kind = kind,
                        .proc = proc,
                        .object = object,
                        .stack = event->stack,
                        .size_bytes = event->size_bytes,
                        .cycles = event->cycles,
                        .room = event->room,
                        .task = world->procs[proc].task,
                        .flag = flag,
                    });
}
