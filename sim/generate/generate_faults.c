/*
 * generate_faults.c -- the faults of generated heaps: limits that shape a whole
 * run, and what happens to processors and their clocks.
 */
#include "sim/generate/choice_labels.h"

static void
draw_clock(struct sim_generator *g, struct sim_clock *clock)
{
    static const struct sim_clock clocks[] = {
        {0, 0},
        {1000, 0},
        {-7, 0},
        {0, 200},
        {0, -1000000},
        {0, -1500000},
        {INT64_C(1) << 62, 0},
        {-(INT64_C(1) << 62), 0},
    };

    *clock = clocks[sim_fault_amount(&g->faults, SIM_FAULT_CLOCKS_APART,
                                     sizeof clocks / sizeof *clocks)];
}

static uint32_t
draw_start(struct sim_generator *g)
{
    static const uint32_t starts[] = {
        0, 1, 2, 12345, (1U << 25) - 2, (1U << 25) - 1, 1U << 24};
    const uint32_t near =
        sim_fault_amount(&g->faults, SIM_FAULT_CYCLE_NEAR_WRAP, 9);

    if (near > 0)
        return PROF_CYCLE_WRAP - near;
    return starts[ask(g, sizeof starts / sizeof *starts, SIM_SWARM,
                      LABEL_START)];
}

void
sim_draw_limits(struct sim_generator *g)
{
    struct sim_config *c = &g->config;
    const uint32_t buckets =
        sim_fault_amount(&g->faults, SIM_FAULT_NO_BUCKETS, 1 + 8);

    c->buckets_max = buckets > 0 ? buckets : SIM_BUCKETS_MAX;
    /* 0: the library's own rule. */
    c->frames_max = sim_fault_amount(&g->faults, SIM_FAULT_NO_FRAMES, 1 + 12);
    c->cycle_first = draw_start(g);
}

void
sim_draw_clocks(struct sim_generator *g)
{
    for (uint32_t i = 0; i < g->config.procs; i++)
        draw_clock(g, &g->config.clocks[i]);
}

/* A collection is under way: marking, not flushed, or not swept. */
static bool
collects(const struct sim_world *world)
{
    const struct sim_gc *gc = sim_world_gc(world);

    return gc->marking || gc->unflushed || gc->dead > 0;
}

/* Would another processor go on? If all stand still, nothing is tested. */
static bool
another_is_awake(const struct sim_generator *g, uint32_t proc)
{
    uint32_t awake = 0;

    for (uint32_t i = 0; i < g->config.procs; i++)
        awake += i != proc && g->stalled_ticks[i] <= g->now_ticks;
    return awake > 0;
}

bool
sim_draw_hold(struct sim_generator *g, const struct sim_world *world,
              struct sim_event *event)
{
    static const int64_t jumps[] = {3, 1000, INT64_C(1) << 50};
    static const int64_t spans[] = {100, 400, 5000};
    const struct sim_faults *faults = &g->faults;
    const uint64_t sites = UINT64_C(1) << SIM_FAULT_CLOCK_AHEAD |
                           UINT64_C(1) << SIM_FAULT_CLOCK_BACK |
                           UINT64_C(1) << SIM_FAULT_CLOCK_FREEZE |
                           UINT64_C(1) << SIM_FAULT_PROC_STALL;
    const uint32_t proc = event->task % g->config.procs;

    if ((faults->on & sites) == 0)
        return false; /* most runs */
    if (sim_fault_strikes(faults, SIM_FAULT_CLOCK_AHEAD)) {
        event->kind = SIM_EV_CLOCK_JUMP;
        event->cycles = jumps[ask(g, 3, SIM_CLOCK, LABEL_CLOCK_FAULT)];
    } else if (sim_fault_strikes(faults, SIM_FAULT_CLOCK_BACK)) {
        event->kind = SIM_EV_CLOCK_JUMP;
        event->cycles = -jumps[ask(g, 3, SIM_CLOCK, LABEL_CLOCK_FAULT)];
    } else if (sim_fault_strikes(faults, SIM_FAULT_CLOCK_FREEZE)) {
        event->kind = SIM_EV_CLOCK_FREEZE;
        event->cycles = spans[ask(g, 3, SIM_CLOCK, LABEL_CLOCK_FAULT)];
    } else if (collects(world) && another_is_awake(g, proc) &&
               sim_fault_strikes(faults, SIM_FAULT_PROC_STALL)) {
        event->kind = SIM_EV_STALL;
        event->cycles = spans[ask(g, 3, SIM_CLOCK, LABEL_CLOCK_FAULT)];
        g->stalled_ticks[proc] = g->now_ticks + (uint64_t)event->cycles;
        if (g->stalls_end_ticks < g->stalled_ticks[proc])
            g->stalls_end_ticks = g->stalled_ticks[proc];
    } else {
        return false;
    }
    return true;
}

bool
sim_find_awake(const struct sim_generator *g, struct sim_event *event)
{
    if (g->stalled_ticks[event->task % g->config.procs] <= g->now_ticks)
        return true;
    for (uint32_t i = 0; i < g->config.procs; i++) {
        if (g->stalled_ticks[i] <= g->now_ticks) {
            event->task = i;
            return true;
        }
    }
    return false;
}
