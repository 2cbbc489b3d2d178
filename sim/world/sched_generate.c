/*
 * sched_generate.c -- the swarm generator of sched_generate.h.
 *
 * Each step asks which processor acts, lists what is possible there and in the
 * world at large, and asks for one of the list. The dullest answer comes first
 * in each list: a thread comes, a task runs, yields, returns.
 */
#include "sched_generate.h"

#include <string.h>

/* Labels of the questions; they have meaning for people and for alignment. */
enum label {
    ASK_PROCS = 1,
    ASK_BUFFER_BYTES,
    ASK_DIVISOR,
    ASK_HERTZ,
    ASK_EAGER,
    ASK_READERS,
    ASK_OFFSET,
    ASK_STACKS,
    ASK_DEPTH,
    ASK_PC,
    ASK_FEATURE,
    ASK_LENGTH,
    ASK_MORE,
    ASK_PROC,
    ASK_EVENT,
    ASK_DELAY,
    ASK_TASK,
    ASK_STACK,
    ASK_NUMBER,
    ASK_ORDER,
};

enum { CANDIDATES_MAX = 64 };

struct candidates {
    struct sim_sched_generator *generator;
    const struct sim_sched_world *world;
    uint32_t proc;
    struct sim_sched_event events[CANDIDATES_MAX];
    uint32_t count;
};

static uint32_t
ask(struct sim_sched_generator *g, uint32_t bound, enum sim_kind kind,
    enum label label)
{
    return sim_choose(g->choices, bound, kind, (uint16_t)label);
}

/* ----------------------------------------------------------------- the world
 */

static void
draw_stacks(struct sim_sched_generator *g)
{
    static const uint32_t depths[] = {1, 2, 5, 0, 20, 127, 128, 129, 140};
    static const uintptr_t firsts[] = {0x401000, 1, UINTPTR_MAX - 0x1000};

    g->config.stacks = g->stacks;
    g->config.stacks_count =
        1 + ask(g, SIM_SCHED_GENERATED_STACKS_MAX, SIM_SWARM, ASK_STACKS);
    for (uint32_t i = 0; i < g->config.stacks_count; i++) {
        const uintptr_t first = firsts[ask(g, 3, SIM_SWARM, ASK_PC)];

        g->stacks[i].depth = depths[ask(g, sizeof depths / sizeof *depths,
                                        SIM_SWARM, ASK_DEPTH)];
        g->stacks[i].frames = g->frames[i];
        for (uint32_t j = 0; j < SIM_SCHED_FRAMES_MAX; j++)
            g->frames[i][j] = first + 256 * (uintptr_t)i + 16 * (uintptr_t)j;
    }
}

static void
draw_buffers(struct sim_sched_generator *g)
{
    g->config.buffer_bytes = SIM_SCHED_BUFFER_BYTES_MAX;
    if (sim_fault_is_on(&g->faults, SIM_FAULT_NO_TRACE_BUFFERS) ||
        ask(g, 2, SIM_SWARM, ASK_BUFFER_BYTES) == 1)
        g->config.buffer_bytes =
            PROF_TRACE_BUFFER_BYTES_MIN +
            ask(g, ask(g, 2, SIM_SWARM, ASK_BUFFER_BYTES) == 0 ? 40 : 500,
                SIM_SWARM, ASK_BUFFER_BYTES);
    g->config.is_eager = ask(g, 4, SIM_SWARM, ASK_EAGER) == 3;
}

/* When the machine was started; all clocks agree on that. */
static void
draw_offset(struct sim_sched_generator *g)
{
    static const int64_t offsets[] = {0, 1 << 20, INT64_C(1) << 45};
    const int64_t offset = offsets[ask(g, 3, SIM_CLOCK, ASK_OFFSET)];

    for (uint32_t p = 0; p < SIM_SCHED_PROCS_MAX; p++)
        g->config.clocks[p].offset_ticks += offset;
}

/* Which events this run has at all; tracing and what the rest needs, always. */
static uint64_t
draw_features(struct sim_sched_generator *g)
{
    static const enum sim_sched_kind optional[] = {
        SIM_SCHED_PROC_STOP,    SIM_SCHED_PROCS,      SIM_SCHED_END,
        SIM_SCHED_STOP,         SIM_SCHED_PREEMPT,    SIM_SCHED_SLEEP,
        SIM_SCHED_BLOCK,        SIM_SCHED_BLOCK_SYNC, SIM_SCHED_BLOCK_NET,
        SIM_SCHED_AGAIN,        SIM_SCHED_SYSCALL,    SIM_SCHED_GC_START,
        SIM_SCHED_SCAN_START,   SIM_SCHED_HEAP,       SIM_SCHED_TIMERS,
        SIM_SCHED_WAKE_OUTSIDE, SIM_SCHED_QUEUED,     SIM_SCHED_READ,
        SIM_SCHED_TRACE_STOP,
    };
    uint64_t features = 0;

    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        if (ask(g, 3, SIM_SWARM, ASK_FEATURE) != 0)
            features |= UINT64_C(1) << optional[i];
    }
    return features;
}

/* Where no fault has its hand on the clocks, they may be what orders. */
static void
draw_order(struct sim_sched_generator *g)
{
    static const enum sim_fault clocks[] = {
        SIM_FAULT_TRACE_SKEW, SIM_FAULT_TRACE_CLOCK_AHEAD,
        SIM_FAULT_TRACE_CLOCK_BACK, SIM_FAULT_TRACE_CLOCK_FREEZE,
        SIM_FAULT_TRACE_CLOCK_LIMIT};

    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (sim_fault_is_on(&g->faults, clocks[i]))
            return;
    }
    g->config.is_by_clock = ask(g, 2, SIM_SWARM, ASK_ORDER) == 1;
}

void
sim_sched_generator_begin(struct sim_sched_generator *g,
                          struct sim_choices *choices)
{
    static const uint32_t divisors[] = {64, 1, 16, 1000};
    static const uint64_t speeds[] = {1000, 62, 3000, 1};
    static const uint32_t lengths[] = {12, 40, 120};

    g->choices = choices;
    g->events = 0;
    g->ends = false;
    memset(&g->config, 0, sizeof g->config);
    g->config.procs = 1 + ask(g, 4, SIM_SWARM, ASK_PROCS);
    sim_faults_draw(&g->faults, choices, 't');
    draw_order(g);
    g->config.tick_divisor = divisors[ask(g, 4, SIM_SWARM, ASK_DIVISOR)];
    g->config.ticks_per_us = speeds[ask(g, 4, SIM_SWARM, ASK_HERTZ)];
    g->config.has_two_readers = ask(g, 256, SIM_SWARM, ASK_READERS) == 255;
    draw_buffers(g);
    sim_sched_draw_limits(g);
    draw_offset(g);
    draw_stacks(g);
    g->features = draw_features(g);
    g->more_bound = lengths[ask(g, 3, SIM_SWARM, ASK_LENGTH)];
}

/* ------------------------------------------------------------- what can happen
 */

static void
add(struct candidates *c, enum sim_sched_kind kind, uint64_t task)
{
    if (c->count < CANDIDATES_MAX)
        c->events[c->count++] =
            (struct sim_sched_event){.kind = kind,
                                     .proc = c->proc,
                                     .task = task,
                                     .stack = TRUTH_NO_STACK};
}

static bool
may(const struct candidates *c, enum sim_sched_kind feature)
{
    return (c->generator->features >> feature & 1) != 0;
}

static void
add_if(struct candidates *c, enum sim_sched_kind feature,
       enum sim_sched_kind kind)
{
    if (may(c, feature))
        add(c, kind, 0);
}

/* A task in the state, drawn among them; 0 if there is none. */
static uint64_t
draw_task(struct candidates *c, enum sim_task_state state)
{
    uint64_t found[SIM_SCHED_TASKS_MAX];
    uint32_t count = 0;

    for (uint32_t id = 1; id <= sim_sched_world_tasks(c->world); id++) {
        if (sim_sched_world_task(c->world, id)->state == state)
            found[count++] = id;
    }
    return count == 0 ? 0
                      : found[ask(c->generator, count, SIM_SCHED, ASK_TASK)];
}

static void
add_with(struct candidates *c, enum sim_sched_kind kind,
         enum sim_task_state state)
{
    const uint64_t task = draw_task(c, state);

    if (task != 0)
        add(c, kind, task);
}

/* One task is kept for the end. */
static void
add_create(struct candidates *c)
{
    if (sim_sched_world_tasks(c->world) + 1 < SIM_SCHED_TASKS_MAX)
        add(c, SIM_SCHED_CREATE, 0);
}

static void
add_waits(struct candidates *c)
{
    add_if(c, SIM_SCHED_SLEEP, SIM_SCHED_SLEEP);
    add_if(c, SIM_SCHED_BLOCK, SIM_SCHED_BLOCK);
    add_if(c, SIM_SCHED_BLOCK, SIM_SCHED_BLOCK_SEND);
    add_if(c, SIM_SCHED_BLOCK, SIM_SCHED_BLOCK_RECV);
    add_if(c, SIM_SCHED_BLOCK, SIM_SCHED_BLOCK_SELECT);
    add_if(c, SIM_SCHED_BLOCK_SYNC, SIM_SCHED_BLOCK_SYNC);
    add_if(c, SIM_SCHED_BLOCK_SYNC, SIM_SCHED_BLOCK_COND);
    add_if(c, SIM_SCHED_BLOCK_NET, SIM_SCHED_BLOCK_NET);
}

static void
add_tracing(struct candidates *c)
{
    const bool traces = sim_sched_world_traces(c->world);

    if (sim_sched_world_stalls(c->world))
        return; /* the world cannot be stopped */
    if (traces)
        add_if(c, SIM_SCHED_TRACE_STOP, SIM_SCHED_TRACE_STOP);
    else if (sim_sched_world_sessions(c->world) < SIM_SCHED_SESSIONS_MAX)
        for (int weight = 0; weight < 6; weight++)
            add(c, SIM_SCHED_TRACE_START, 0);
    if (ask(c->generator, 16, SIM_OP, ASK_EVENT) == 15)
        add(c, traces ? SIM_SCHED_TRACE_START : SIM_SCHED_TRACE_STOP, 0);
}

static void
add_running(struct candidates *c, const struct sim_sched_task *task)
{
    add(c, SIM_SCHED_YIELD, 0);
    add_if(c, SIM_SCHED_PREEMPT, SIM_SCHED_PREEMPT);
    add_if(c, SIM_SCHED_END, SIM_SCHED_END);
    add_if(c, SIM_SCHED_STOP, SIM_SCHED_STOP);
    add_waits(c);
    if (task->was_woken && task->waits != SIM_SCHED_SLEEP &&
        task->waits != SIM_SCHED_BLOCK_NET) {
        for (int weight = 0; weight < 4; weight++)
            add_if(c, SIM_SCHED_AGAIN, SIM_SCHED_AGAIN);
    }
    add_if(c, SIM_SCHED_SYSCALL, SIM_SCHED_SYSCALL);
    add_if(c, SIM_SCHED_SYSCALL, SIM_SCHED_SYSCALL);
    if (!sim_sched_world_stalls(c->world))
        add_if(c, SIM_SCHED_PROCS, SIM_SCHED_PROCS);
    add_tracing(c);
}

/* Work that goes on whoever is on the processor. */
static void
add_work(struct candidates *c, const struct sim_sched_proc *proc)
{
    add_create(c);
    add_with(c, SIM_SCHED_WAKE, SIM_TASK_WAITING);
    add_if(c, SIM_SCHED_GC_START,
           sim_sched_world_collects(c->world) ? SIM_SCHED_GC_DONE
                                              : SIM_SCHED_GC_START);
    add_if(c, SIM_SCHED_SCAN_START,
           proc->scans ? SIM_SCHED_SCAN_DONE : SIM_SCHED_SCAN_START);
    add_if(c, SIM_SCHED_GC_START,
           proc->sweeps ? SIM_SCHED_SWEEP_DONE : SIM_SCHED_SWEEP_START);
    add_if(c, SIM_SCHED_HEAP, SIM_SCHED_HEAP);
    add_if(c, SIM_SCHED_HEAP, SIM_SCHED_GOAL);
}

static void
add_free(struct candidates *c, const struct sim_sched_proc *proc)
{
    add_with(c, SIM_SCHED_RUN, SIM_TASK_RUNNABLE);
    add_with(c, SIM_SCHED_RUN, SIM_TASK_RUNNABLE);
    add_with(c, SIM_SCHED_RUN, SIM_TASK_LEFT);
    add_with(c, SIM_SCHED_RUN, SIM_TASK_QUEUED);
    if (may(c, SIM_SCHED_PROC_STOP) && !proc->scans && !proc->sweeps)
        add(c, SIM_SCHED_PROC_STOP, 0);
}

/* What needs no processor. */
static void
add_elsewhere(struct candidates *c)
{
    add_with(c, SIM_SCHED_LEFT, SIM_TASK_AWAY);
    if (may(c, SIM_SCHED_QUEUED))
        add_with(c, SIM_SCHED_QUEUED, SIM_TASK_LEFT);
    if (may(c, SIM_SCHED_WAKE_OUTSIDE))
        add_with(c, SIM_SCHED_WAKE_OUTSIDE, SIM_TASK_WAITING);
    if (may(c, SIM_SCHED_TIMERS))
        add(c, SIM_SCHED_TIMERS,
            ask(c->generator, sim_sched_world_tasks(c->world) + 1, SIM_DATA,
                ASK_TASK));
    if (sim_sched_world_reader_stalls(c->world)) {
        add(c, SIM_SCHED_READER_BACK, 0);
        return;
    }
    add_if(c, SIM_SCHED_READ, SIM_SCHED_READ);
    /* Where nobody reads, nobody can start again; and something must be
     * possible. */
    if (!may(c, SIM_SCHED_READ) &&
        (c->count == 0 || !sim_sched_world_traces(c->world)))
        add(c, SIM_SCHED_READ, 0);
}

static void
list(struct candidates *c)
{
    const struct sim_sched_proc *proc = sim_sched_world_proc(c->world, c->proc);
    const struct sim_sched_task *task =
        sim_sched_world_task(c->world, proc->task);

    if (proc->stalls) {
        add(c, SIM_SCHED_GO_ON, 0);
    } else if (!proc->has_thread) {
        add(c, SIM_SCHED_PROC_START, 0);
    } else if (proc->task == 0) {
        add_free(c, proc);
        add_work(c, proc);
    } else if (task->state == SIM_TASK_SYSCALL) {
        add(c, SIM_SCHED_SYSRETURN, 0);
        add(c, SIM_SCHED_SYSBLOCK, 0);
        add(c, SIM_SCHED_SYSBLOCK, 0);
    } else {
        add_running(c, task);
        add_work(c, proc);
    }
    add_elsewhere(c);
}

/* ------------------------------------------------------------------ the events
 */

static uint64_t
draw_number(struct sim_sched_generator *g, enum sim_sched_kind kind)
{
    static const uint64_t bytes[] = {4096, 0, 1, 127, 128, UINT64_MAX};
    static const uint64_t chunks[] = {0, 1, 2, 5};

    if (kind == SIM_SCHED_PROCS)
        return 1 + ask(g, SIM_SCHED_PROCS_MAX, SIM_DATA, ASK_NUMBER);
    if (kind == SIM_SCHED_READ)
        return chunks[ask(g, 4, SIM_DATA, ASK_NUMBER)];
    return bytes[ask(g, 6, SIM_DATA, ASK_NUMBER)];
}

static void
draw_arguments(struct sim_sched_generator *g, struct sim_sched_event *event)
{
    static const uint64_t delays[] = {0, 1, 63, 1000, 100000, 1U << 30};
    const char *arguments = sim_sched_arguments(event->kind);

    event->delay_ticks = delays[ask(g, 6, SIM_CLOCK, ASK_DELAY)];
    if (strchr(arguments, 's') != NULL)
        event->stack = ask(g, g->config.stacks_count, SIM_DATA, ASK_STACK);
    if (strchr(arguments, 'n') != NULL)
        event->number = draw_number(g, event->kind);
}

/* A world begins with one task that runs. */
static bool
next_of_beginning(struct sim_sched_generator *g, struct sim_sched_event *event)
{
    static const enum sim_sched_kind kinds[] = {
        SIM_SCHED_PROC_START, SIM_SCHED_CREATE, SIM_SCHED_RUN};

    if (g->events >= sizeof kinds / sizeof *kinds)
        return false;
    *event = (struct sim_sched_event){
        .kind = kinds[g->events], .task = 1, .stack = TRUTH_NO_STACK};
    return true;
}

bool
sim_sched_generator_next(struct sim_sched_generator *g,
                         const struct sim_sched_world *world,
                         struct sim_sched_event *event)
{
    struct candidates c;

    if (next_of_beginning(g, event)) {
        g->events++;
        return true;
    }
    /* The end takes a few events, and one for each that stands still. */
    if (!g->ends && (g->events >= SIM_SCHED_EVENTS_MAX - 24 ||
                     ask(g, g->more_bound, SIM_FLOW, ASK_MORE) == 0))
        g->ends = true;
    if (g->ends)
        return sim_sched_quiet_next(world, event);
    c.generator = g;
    c.world = world;
    c.count = 0;
    c.proc = ask(g, sim_sched_world_procs(world), SIM_SCHED, ASK_PROC);
    g->events++;
    if (sim_sched_draw_fault(g, world, c.proc, event))
        return true;
    list(&c);
    *event = c.events[ask(g, c.count, SIM_OP, ASK_EVENT)];
    draw_arguments(g, event);
    return true;
}
