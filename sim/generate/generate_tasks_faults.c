/*
 * generate_tasks_faults.c -- the faults of generated worlds whose processors
 * take tasks, and the quiet end of a run, when there are none.
 */
#include "sim/generate/choice_labels.h"

#include "sim/instruments/instrument_trace.h"

static void
draw_clocks(struct sim_generator *g)
{
    static const struct sim_clock skews[] = {
        {0, 0}, {1000, 0}, {-70, 0}, {0, 200}, {0, -1000000}, {0, -1500000},
    };
    /* In the range of a schedule file. Negative ones count from 2^64 down. */
    static const int64_t limits[] = {0, -4096, -(INT64_C(1) << 30),
                                     -(INT64_C(1) << 62), INT64_C(1) << 61};
    const int64_t limit =
        limits[sim_fault_amount(&g->faults, SIM_FAULT_TRACE_CLOCK_LIMIT, 5)];

    for (uint32_t p = 0; p < SIM_PROCS_MAX; p++) {
        struct sim_clock *clock = &g->config.clocks[p];

        *clock = skews[sim_fault_amount(&g->faults, SIM_FAULT_TRACE_SKEW,
                                        sizeof skews / sizeof *skews)];
        if (limit != 0)
            clock->offset_ticks = limit;
    }
}

void
sim_draw_trace_limits(struct sim_generator *g)
{
    const uint32_t buffers =
        sim_fault_amount(&g->faults, SIM_FAULT_NO_TRACE_BUFFERS, 1 + 8);
    const uint32_t stacks =
        sim_fault_amount(&g->faults, SIM_FAULT_NO_TRACE_STACKS, 1 + 6);

    /* At least ten; an eager reader needs as many as one event may fill. */
    g->config.trace.buffers = buffers > 0 && !g->config.trace.eager
                                  ? 9 + buffers
                                  : SIM_TRACE_BUFFERS_MAX;
    g->config.trace.stacks_room = stacks > 0 ? stacks : SIM_TRACE_STACKS_MAX;
    draw_clocks(g);
}

static bool
works_for_collector(const struct sim_world *world, uint32_t proc)
{
    return sim_world_gc(world)->marking || sim_world_proc(world, proc)->scans ||
           sim_world_proc(world, proc)->sweeps;
}

/* Draw a fault that strikes a processor. in: event->proc; out: *event */
static bool
draw_strike(struct sim_generator *g, const struct sim_world *world,
            struct sim_event *event)
{
    static const int64_t moves[] = {1, 1000, INT64_C(1) << 30,
                                    INT64_C(1) << 40};
    const struct sim_faults *faults = &g->faults;
    int64_t sign = 1;

    if (!sim_world_reader_stalls(world) &&
        sim_fault_strikes(faults, SIM_FAULT_READER_STALLS)) {
        event->kind = SIM_EV_READER_STALL;
        return true;
    }
    if (!sim_world_stalls(world, event->proc) &&
        works_for_collector(world, event->proc) &&
        sim_fault_strikes(faults, SIM_FAULT_TRACE_STALL)) {
        event->kind = SIM_EV_STALL;
        event->cycles = SIM_UNTIL_GO_ON;
        return true;
    }
    event->kind = SIM_EV_CLOCK_JUMP;
    if (sim_fault_strikes(faults, SIM_FAULT_TRACE_CLOCK_AHEAD))
        sign = 1;
    else if (sim_fault_strikes(faults, SIM_FAULT_TRACE_CLOCK_BACK))
        sign = -1;
    else if (sim_fault_strikes(faults, SIM_FAULT_TRACE_CLOCK_FREEZE))
        event->kind = SIM_EV_CLOCK_FREEZE;
    else
        return false;
    event->cycles =
        sign * moves[sim_choose(g->choices, 4, SIM_CLOCK, LABEL_AMOUNT)];
    return true;
}

bool
sim_draw_trace_fault(struct sim_generator *g, const struct sim_world *world,
                     uint32_t proc, struct sim_event *event)
{
    *event = (struct sim_event){.proc = proc, .stack = TRUTH_NO_STACK};
    return draw_strike(g, world, event);
}

/* Draw the end of a fault. */
static bool
goes_on(const struct sim_world *world, struct sim_event *event)
{
    for (uint32_t p = 0; p < sim_world_procs(world); p++) {
        if (sim_world_stalls(world, p)) {
            event->kind = SIM_EV_GO_ON;
            event->proc = p;
            return true;
        }
    }
    event->kind =
        sim_world_reader_stalls(world) ? SIM_EV_READER_BACK : SIM_EV_READ;
    return sim_world_reader_stalls(world);
}

bool
sim_quiet_next(const struct sim_world *world, struct sim_event *event)
{
    const struct sim_proc *first = sim_world_proc(world, 0);

    *event = (struct sim_event){.kind = SIM_EV_READ, .stack = TRUTH_NO_STACK};
    if (goes_on(world, event))
        return true;
    if (!sim_world_traces(world)) {
        return sim_world_is_unread(world);
    }
    /* Only a running task can stop the trace. */
    for (uint32_t p = 0; p < sim_world_procs(world); p++) {
        const uint32_t task = sim_world_proc(world, p)->task;

        if (task != 0 &&
            sim_world_task(world, task)->state == SIM_TASK_RUNNING) {
            event->kind = SIM_EV_TRACE_STOP;
            event->proc = p;
            return true;
        }
    }
    event->kind = SIM_EV_SYSRETURN;
    if (!first->has_thread)
        event->kind = SIM_EV_PROC_START;
    else if (first->task == 0)
        event->kind = SIM_EV_CREATE;
    event->object = sim_world_tasks(world);
    if (event->kind == SIM_EV_CREATE && event->object != 0 &&
        sim_world_task(world, event->object)->state == SIM_TASK_RUNNABLE)
        event->kind = SIM_EV_RUN;
    return true;
}

bool
sim_collector_place(const struct sim_world *world, struct sim_event *event)
{
    const struct sim_proc *first = sim_world_proc(world, 0);

    *event = (struct sim_event){.kind = SIM_EV_GO_ON, .stack = TRUTH_NO_STACK};
    if (!sim_world_config(world)->scheduled)
        return true;
    for (uint32_t p = 0; p < sim_world_procs(world); p++) {
        event->proc = p;
        if (sim_world_stalls(world, p))
            return false;
        if (sim_world_runs(world, p) || sim_world_is_free(world, p)) {
            event->kind = SIM_EV_SWEEP_START;
            return sim_world_gc(world)->dead == 0 ||
                   sim_world_proc(world, p)->sweeps;
        }
    }
    event->proc = 0;
    event->kind = first->has_thread ? SIM_EV_SYSRETURN : SIM_EV_PROC_START;
    return false;
}
