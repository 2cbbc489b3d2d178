/*
 * generate_tasks_begin.c -- draws the configuration of a world whose processors
 * take tasks: its stacks, clocks, buffers, enabled events and instruments.
 */
#include <string.h>

#include "sim/generate/choice_labels.h"
#include "sim/instruments/instrument_trace.h"

static void
draw_stacks(struct sim_generator *g)
{
    static const uint32_t depths[] = {1, 2, 5, 0, 20, 127, 128, 129, 140};
    static const uintptr_t firsts[] = {0x401000, 1, UINTPTR_MAX - 0x1000};

    g->config.stacks = g->stacks;
    g->config.stacks_count =
        1 + ask(g, SIM_STACKS_MAX, SIM_SWARM, LABEL_TRACE_STACKS);
    for (uint32_t i = 0; i < g->config.stacks_count; i++) {
        const uintptr_t first = firsts[ask(g, 3, SIM_SWARM, LABEL_PC)];

        g->stacks[i].depth = depths[ask(g, sizeof depths / sizeof *depths,
                                        SIM_SWARM, LABEL_TRACE_DEPTH)];
        g->stacks[i].frames = g->deep[i];
        for (uint32_t j = 0; j < SIM_DEEP_MAX; j++)
            g->deep[i][j] = first + 256 * (uintptr_t)i + 16 * (uintptr_t)j;
    }
}

static void
draw_buffers(struct sim_generator *g)
{
    g->config.trace.buffer_bytes = SIM_TRACE_BUFFER_BYTES_MAX;
    if (sim_fault_is_on(&g->faults, SIM_FAULT_NO_TRACE_BUFFERS) ||
        ask(g, 2, SIM_SWARM, LABEL_BUFFER_BYTES) == 1)
        g->config.trace.buffer_bytes =
            PROF_TRACE_BUFFER_BYTES_MIN +
            ask(g, ask(g, 2, SIM_SWARM, LABEL_BUFFER_BYTES) == 0 ? 40 : 500,
                SIM_SWARM, LABEL_BUFFER_BYTES);
    g->config.trace.eager = ask(g, 4, SIM_SWARM, LABEL_EAGER) == 3;
}

/* Draw the time since boot, which is the same on all clocks. */
static void
draw_offset(struct sim_generator *g)
{
    static const int64_t offsets[] = {0, 1 << 20, INT64_C(1) << 45};
    const int64_t offset = offsets[ask(g, 3, SIM_CLOCK, LABEL_OFFSET)];

    for (uint32_t p = 0; p < SIM_PROCS_MAX; p++)
        g->config.clocks[p].offset_ticks += offset;
}

/* Draw which events this run has at all. It always has tracing, and the events
 * on which others depend. */
static void
draw_events(struct sim_generator *g)
{
    static const enum sim_event_kind optional[] = {
        SIM_EV_PROC_STOP,    SIM_EV_SET_PROCS, SIM_EV_END,
        SIM_EV_STOP,         SIM_EV_PREEMPT,   SIM_EV_SLEEP,
        SIM_EV_PARK,         SIM_EV_PARK_LOCK, SIM_EV_PARK_NETWORK,
        SIM_EV_PARK_AGAIN,   SIM_EV_SYSCALL,   SIM_EV_GC_MARK,
        SIM_EV_SCAN_START,   SIM_EV_HEAP,      SIM_EV_TIMERS,
        SIM_EV_WAKE_OUTSIDE, SIM_EV_QUEUED,    SIM_EV_READ,
        SIM_EV_TRACE_STOP,
    };

    memset(g->has, 0, sizeof g->has);
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        g->has[optional[i]] = ask(g, 3, SIM_SWARM, LABEL_TRACE_FEATURE) != 0;
}

/* If no fault affects the clocks, the trace may be ordered by clock. */
static void
draw_order(struct sim_generator *g)
{
    static const enum sim_fault clocks[] = {
        SIM_FAULT_TRACE_SKEW, SIM_FAULT_TRACE_CLOCK_AHEAD,
        SIM_FAULT_TRACE_CLOCK_BACK, SIM_FAULT_TRACE_CLOCK_FREEZE,
        SIM_FAULT_TRACE_CLOCK_LIMIT};

    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (sim_fault_is_on(&g->faults, clocks[i]))
            return;
    }
    g->config.trace.by_clock = ask(g, 2, SIM_SWARM, LABEL_ORDER) == 1;
}

/* Draw the profiles, and a heap for them to show. */
static void
draw_heap(struct sim_generator *g)
{
    sim_draw_library(g);
    sim_draw_limits(g);
    sim_draw_features(g);
    g->features.explicit_free =
        false; /* no explicit frees, because there is a collector */
    /* In half of the worlds only tasks wait, and each wait is recorded; the
     * trace shows these waits, too. */
    if (ask(g, 2, SIM_SWARM, LABEL_INSTRUMENT) == 0) {
        g->features.contention = false;
        g->features.sampling = false;
        g->features.locks = true;
    }
    sim_list_works(g);
}

/* Few runs are repeated without an instrument, because that takes two more
 * runs. */
static void
draw_left_out(struct sim_generator *g)
{
    const uint32_t which = ask(g, 128, SIM_SWARM, LABEL_INSTRUMENT);

    g->left_out = 0;
    if (which > 0 && which <= SIM_INSTRUMENT_COUNT)
        g->left_out = UINT32_C(1) << (which - 1);
}

/* Draw the other instruments, and what is read from them. */
static void
draw_instruments(struct sim_generator *g)
{
    static const enum sim_instrument_id optional[] = {SIM_TASKS, SIM_THREADS,
                                                      SIM_CPU, SIM_DEBUG_LINES};

    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        if (ask(g, 3, SIM_SWARM, LABEL_INSTRUMENT) != 0)
            g->config.instruments |= SIM_INSTRUMENT_BIT(optional[i]);
    }
    g->has[SIM_EV_GOROUTINES] =
        (g->config.instruments & SIM_INSTRUMENT_BIT(SIM_TASKS)) != 0;
    g->has[SIM_EV_CPU_START] =
        (g->config.instruments & SIM_INSTRUMENT_BIT(SIM_CPU)) != 0;
    draw_left_out(g);
    /* A wait that is not reported to a profile would hide what the profile
     * should show. */
    if (ask(g, 4, SIM_SWARM, LABEL_INSTRUMENT) != 3) {
        g->has[SIM_EV_PARK] = false;
        g->has[SIM_EV_PARK_LOCK] = false;
    }
    /* Real allocations report the size of the heap, so no event makes it up. */
    g->has[SIM_EV_HEAP] = false;
}

void
sim_generator_begin_tasks(struct sim_generator *g, bool has_heap)
{
    static const uint32_t divisors[] = {64, 1, 16, 1000};
    static const uint64_t speeds[] = {1000, 62, 3000, 1};
    static const uint32_t lengths[] = {12, 40, 120};

    g->ends = false;
    g->has_heap = has_heap;
    g->left_out = 0;
    g->config.scheduled = true;
    g->config.instruments = SIM_INSTRUMENT_BIT(SIM_TRACER);
    g->config.procs = 1 + ask(g, 4, SIM_SWARM, LABEL_TRACE_PROCS);
    sim_faults_draw(&g->faults, g->choices, has_heap ? 'm' : 't');
    draw_order(g);
    g->config.trace.tick_divisor =
        divisors[ask(g, 4, SIM_SWARM, LABEL_DIVISOR)];
    g->config.trace.ticks_per_us = speeds[ask(g, 4, SIM_SWARM, LABEL_HERTZ)];
    g->config.trace.two_readers = ask(g, 256, SIM_SWARM, LABEL_READERS) == 255;
    draw_buffers(g);
    sim_draw_trace_limits(g);
    draw_offset(g);
    draw_stacks(g);
    draw_events(g);
    g->more_bound = lengths[ask(g, 3, SIM_SWARM, LABEL_TRACE_LENGTH)];
    if (has_heap) {
        draw_heap(g);
        draw_instruments(g);
    }
}
