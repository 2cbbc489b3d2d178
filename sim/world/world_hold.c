/*
 * world_hold.c -- what faults do to the processors of a world: clocks that jump
 * or stand still, processors that stand still.
 *
 * A clock that stands still reads as if the world had stood still, and goes on
 * from there. On a processor that stands still nothing happens of its own: the
 * world refuses every event of its tasks until it goes on. What others do to
 * them they do: a waiter is let go by whoever lets it go.
 */
#include "world_inside.h"

const char *
sim_world_apply_jump(struct sim_world *world, const struct sim_event *event)
{
    const int64_t most = INT64_C(1) << 61; /* readings stay numbers */
    int64_t *jumped =
        &world->holds[sim_world_proc_of(world, event->task)].jumped_ticks;

    if (event->cycles > most || event->cycles < -most ||
        *jumped + event->cycles > most || *jumped + event->cycles < -most)
        return "the clock would jump too far";
    *truth_next(&world->truth) = (struct truth_entry){
        .kind = TRUTH_CLOCK_JUMP,
        .proc = sim_world_proc_of(world, event->task),
        .at_ticks =
            sim_world_clock(world, sim_world_proc_of(world, event->task)),
        .cycles = event->cycles,
        .task = event->task,
    };
    *jumped += event->cycles;
    world->holds_used = true;
    return NULL;
}

uint64_t
sim_world_frozen_ticks(const struct sim_world *world, uint32_t proc)
{
    const struct sim_hold *hold = &world->holds[proc];

    return (world->now_ticks < hold->thaws_ticks ? world->now_ticks
                                                 : hold->thaws_ticks) -
           hold->frozen_ticks;
}

bool
sim_world_stalls(const struct sim_world *world, uint32_t task)
{
    return world->holds[sim_world_proc_of(world, task)].stalled_until_ticks >
           world->now_ticks;
}

uint64_t
sim_world_stall_ticks(const struct sim_world *world)
{
    uint64_t left_ticks = 0;

    if (!world->holds_used)
        return 0;
    for (uint32_t i = 0; i < world->config.procs; i++) {
        const uint64_t until = world->holds[i].stalled_until_ticks;

        if (until > world->now_ticks + left_ticks)
            left_ticks = until - world->now_ticks;
    }
    return left_ticks;
}

const char *
sim_world_apply_hold(struct sim_world *world, const struct sim_event *event)
{
    const int64_t most = INT64_C(1) << 42; /* world time stays below 2^43 */
    const bool clock = event->kind == SIM_EV_CLOCK_FREEZE;
    const uint32_t proc = sim_world_proc_of(world, event->task);
    struct sim_hold *hold = &world->holds[proc];

    if (event->cycles < 0 || event->cycles > most)
        return "nothing stands still for so long";
    *truth_next(&world->truth) = (struct truth_entry){
        .kind = clock ? TRUTH_CLOCK_FREEZE : TRUTH_STALL,
        .proc = proc,
        .at_ticks = sim_world_clock(world, proc),
        .cycles = event->cycles,
        .task = event->task,
    };
    if (clock) {
        hold->lost_ticks += sim_world_frozen_ticks(world, proc);
        hold->frozen_ticks = world->now_ticks;
        hold->thaws_ticks = world->now_ticks + (uint64_t)event->cycles;
    } else {
        hold->stalled_until_ticks = world->now_ticks + (uint64_t)event->cycles;
    }
    world->holds_used = true;
    return NULL;
}
