/*
 * sched_generate_faults.c -- the faults of generated traced worlds, and the
 * quiet end of a run, when there are none.
 */
#include "sched_generate.h"

#include <string.h>

enum { ASK_AMOUNT = SIM_FAULT_LABEL - 1 };

static void
draw_clocks(struct sim_sched_generator *g)
{
    static const struct sim_clock skews[] = {
        {0, 0}, {1000, 0}, {-70, 0}, {0, 200}, {0, -1000000}, {0, -1500000},
    };
    /* In the range of a schedule file; a clock of less than 0 is 2^64 less. */
    static const int64_t limits[] = {0, -4096, -(INT64_C(1) << 30),
                                     -(INT64_C(1) << 62), INT64_C(1) << 61};
    const int64_t limit =
        limits[sim_fault_amount(&g->faults, SIM_FAULT_TRACE_CLOCK_LIMIT, 5)];

    for (uint32_t p = 0; p < SIM_SCHED_PROCS_MAX; p++) {
        struct sim_clock *clock = &g->config.clocks[p];

        *clock = skews[sim_fault_amount(&g->faults, SIM_FAULT_TRACE_SKEW,
                                        sizeof skews / sizeof *skews)];
        if (limit != 0)
            clock->offset_ticks = limit;
    }
}

void
sim_sched_draw_limits(struct sim_sched_generator *g)
{
    const uint32_t buffers =
        sim_fault_amount(&g->faults, SIM_FAULT_NO_TRACE_BUFFERS, 1 + 8);
    const uint32_t stacks =
        sim_fault_amount(&g->faults, SIM_FAULT_NO_TRACE_STACKS, 1 + 6);

    /* Ten are the least; an eager reader needs all that one event may fill. */
    g->config.buffers = buffers > 0 && !g->config.is_eager
                            ? 9 + buffers
                            : SIM_SCHED_BUFFERS_MAX;
    g->config.stacks_room = stacks > 0 ? stacks : SIM_SCHED_STACKS_MAX;
    draw_clocks(g);
}

static bool
works_for_collector(const struct sim_sched_world *world, uint32_t proc)
{
    return sim_sched_world_collects(world) ||
           sim_sched_world_proc(world, proc)->scans ||
           sim_sched_world_proc(world, proc)->sweeps;
}

static enum sim_sched_kind
draw_kind(struct sim_sched_generator *g, const struct sim_sched_world *world,
          uint32_t proc)
{
    const struct sim_faults *faults = &g->faults;

    if (!sim_sched_world_reader_stalls(world) &&
        sim_fault_strikes(faults, SIM_FAULT_READER_STALLS))
        return SIM_SCHED_READER_STALL;
    if (!sim_sched_world_proc(world, proc)->stalls &&
        works_for_collector(world, proc) &&
        sim_fault_strikes(faults, SIM_FAULT_TRACE_STALL))
        return SIM_SCHED_STALL;
    if (sim_fault_strikes(faults, SIM_FAULT_TRACE_CLOCK_AHEAD))
        return SIM_SCHED_CLOCK_AHEAD;
    if (sim_fault_strikes(faults, SIM_FAULT_TRACE_CLOCK_BACK))
        return SIM_SCHED_CLOCK_BACK;
    if (sim_fault_strikes(faults, SIM_FAULT_TRACE_CLOCK_FREEZE))
        return SIM_SCHED_CLOCK_FREEZE;
    return SIM_SCHED_KIND_COUNT;
}

bool
sim_sched_draw_fault(struct sim_sched_generator *g,
                     const struct sim_sched_world *world, uint32_t proc,
                     struct sim_sched_event *event)
{
    static const uint64_t moves[] = {1, 1000, UINT64_C(1) << 30,
                                     UINT64_C(1) << 40};
    const enum sim_sched_kind kind = draw_kind(g, world, proc);

    if (kind == SIM_SCHED_KIND_COUNT)
        return false;
    *event = (struct sim_sched_event){
        .kind = kind, .proc = proc, .stack = TRUTH_NO_STACK};
    if (strchr(sim_sched_arguments(kind), 'n') != NULL)
        event->number = moves[sim_choose(g->choices, 4, SIM_CLOCK, ASK_AMOUNT)];
    return true;
}

/* The end of a fault. */
static bool
goes_on(const struct sim_sched_world *world, struct sim_sched_event *event)
{
    for (uint32_t p = 0; p < sim_sched_world_procs(world); p++) {
        if (sim_sched_world_proc(world, p)->stalls) {
            event->kind = SIM_SCHED_GO_ON;
            event->proc = p;
            return true;
        }
    }
    event->kind = sim_sched_world_reader_stalls(world) ? SIM_SCHED_READER_BACK
                                                       : SIM_SCHED_READ;
    return sim_sched_world_reader_stalls(world);
}

bool
sim_sched_quiet_next(const struct sim_sched_world *world,
                     struct sim_sched_event *event)
{
    const struct sim_sched_proc *first = sim_sched_world_proc(world, 0);

    *event = (struct sim_sched_event){.kind = SIM_SCHED_READ,
                                      .stack = TRUTH_NO_STACK};
    if (goes_on(world, event))
        return true;
    if (!sim_sched_world_traces(world)) {
        return sim_sched_world_is_unread(world);
    }
    /* Whoever may stop the trace: first make somebody run. */
    for (uint32_t p = 0; p < sim_sched_world_procs(world); p++) {
        const uint64_t task = sim_sched_world_proc(world, p)->task;

        if (task != 0 &&
            sim_sched_world_task(world, task)->state == SIM_TASK_RUNNING) {
            event->kind = SIM_SCHED_TRACE_STOP;
            event->proc = p;
            return true;
        }
    }
    event->kind = SIM_SCHED_SYSRETURN;
    if (!first->has_thread)
        event->kind = SIM_SCHED_PROC_START;
    else if (first->task == 0)
        event->kind = SIM_SCHED_CREATE;
    event->task = sim_sched_world_tasks(world);
    if (event->kind == SIM_SCHED_CREATE && event->task != 0 &&
        sim_sched_world_task(world, event->task)->state == SIM_TASK_RUNNABLE)
        event->kind = SIM_SCHED_RUN;
    return true;
}
