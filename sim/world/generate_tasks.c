/*
 * generate_tasks.c -- the generator of worlds whose processors take tasks.
 *
 * Each step asks which processor acts, lists what is possible there and in the
 * world at large, and asks for one of the list. The dullest answer comes first
 * in each list: a thread comes, a task runs, yields, returns. What a heap does
 * in such a world is drawn as in any other (generate.c).
 */
#include "ask.h"

#include <string.h>

#include "instrument_trace.h"

enum {
    CANDIDATES_MAX = 64,
    LAST_EVENTS = 24, /* the end takes a few, and one for each that stands */

    /* Candidates that are drawn further; no kinds of events. */
    DO_WORK = SIM_EV_COUNT,
    DO_COLLECT,
    DO_READ
};

struct candidates {
    struct sim_generator *generator;
    const struct sim_world *world;
    uint32_t proc;
    struct sim_event events[CANDIDATES_MAX];
    uint32_t count;
};

/* ----------------------------------------------------------------- the world
 */

static void
draw_stacks(struct sim_generator *g)
{
    static const uint32_t depths[] = {1, 2, 5, 0, 20, 127, 128, 129, 140};
    static const uintptr_t firsts[] = {0x401000, 1, UINTPTR_MAX - 0x1000};

    g->config.stacks = g->stacks;
    g->config.stacks_count =
        1 + ask(g, SIM_STACKS_MAX, SIM_SWARM, ASK_TRACE_STACKS);
    for (uint32_t i = 0; i < g->config.stacks_count; i++) {
        const uintptr_t first = firsts[ask(g, 3, SIM_SWARM, ASK_PC)];

        g->stacks[i].depth = depths[ask(g, sizeof depths / sizeof *depths,
                                        SIM_SWARM, ASK_TRACE_DEPTH)];
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
        ask(g, 2, SIM_SWARM, ASK_BUFFER_BYTES) == 1)
        g->config.trace.buffer_bytes =
            PROF_TRACE_BUFFER_BYTES_MIN +
            ask(g, ask(g, 2, SIM_SWARM, ASK_BUFFER_BYTES) == 0 ? 40 : 500,
                SIM_SWARM, ASK_BUFFER_BYTES);
    g->config.trace.eager = ask(g, 4, SIM_SWARM, ASK_EAGER) == 3;
}

/* When the machine was started; all clocks agree on that. */
static void
draw_offset(struct sim_generator *g)
{
    static const int64_t offsets[] = {0, 1 << 20, INT64_C(1) << 45};
    const int64_t offset = offsets[ask(g, 3, SIM_CLOCK, ASK_OFFSET)];

    for (uint32_t p = 0; p < SIM_PROCS_MAX; p++)
        g->config.clocks[p].offset_ticks += offset;
}

/* Which events this run has at all; tracing and what the rest needs, always. */
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
        g->has[optional[i]] = ask(g, 3, SIM_SWARM, ASK_TRACE_FEATURE) != 0;
}

/* Where no fault has its hand on the clocks, they may be what orders. */
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
    g->config.trace.by_clock = ask(g, 2, SIM_SWARM, ASK_ORDER) == 1;
}

/* The profiles, and a heap that they can show. */
static void
draw_heap(struct sim_generator *g)
{
    sim_draw_library(g);
    sim_draw_limits(g);
    sim_draw_features(g);
    g->features.explicit_free = false; /* nobody frees where a collector is */
    sim_list_works(g);
}

void
sim_generator_begin_tasks(struct sim_generator *g, bool has_heap)
{
    static const uint32_t divisors[] = {64, 1, 16, 1000};
    static const uint64_t speeds[] = {1000, 62, 3000, 1};
    static const uint32_t lengths[] = {12, 40, 120};

    g->ends = false;
    g->has_heap = has_heap;
    g->config.scheduled = true;
    g->config.instruments = SIM_INSTRUMENT_BIT(SIM_TRACER);
    g->config.procs = 1 + ask(g, 4, SIM_SWARM, ASK_TRACE_PROCS);
    sim_faults_draw(&g->faults, g->choices, has_heap ? 'm' : 't');
    draw_order(g);
    g->config.trace.tick_divisor = divisors[ask(g, 4, SIM_SWARM, ASK_DIVISOR)];
    g->config.trace.ticks_per_us = speeds[ask(g, 4, SIM_SWARM, ASK_HERTZ)];
    g->config.trace.two_readers = ask(g, 256, SIM_SWARM, ASK_READERS) == 255;
    draw_buffers(g);
    sim_draw_trace_limits(g);
    draw_offset(g);
    draw_stacks(g);
    draw_events(g);
    g->more_bound = lengths[ask(g, 3, SIM_SWARM, ASK_TRACE_LENGTH)];
    if (has_heap)
        draw_heap(g);
}

/* ------------------------------------------------------------- what can happen
 */

static void
add(struct candidates *c, int kind, uint32_t task)
{
    if (c->count < CANDIDATES_MAX)
        c->events[c->count++] =
            (struct sim_event){.kind = (enum sim_event_kind)kind,
                               .proc = c->proc,
                               .object = task,
                               .stack = TRUTH_NO_STACK};
}

static bool
may(const struct candidates *c, enum sim_event_kind feature)
{
    return c->generator->has[feature];
}

static void
add_if(struct candidates *c, enum sim_event_kind feature,
       enum sim_event_kind kind)
{
    if (may(c, feature))
        add(c, kind, 0);
}

/* A task in the state, drawn among them; 0 if there is none. */
static uint32_t
draw_task(struct candidates *c, enum sim_task_state state)
{
    uint32_t found[SIM_SCHEDULED_MAX];
    uint32_t count = 0;

    for (uint32_t id = 1; id <= sim_world_tasks(c->world); id++) {
        const struct sim_task *task = sim_world_task(c->world, id);

        if (task->state == state && !task->waits_for_lock)
            found[count++] = id;
    }
    return count == 0
               ? 0
               : found[ask(c->generator, count, SIM_SCHED, ASK_OF_TASKS)];
}

static void
add_with(struct candidates *c, enum sim_event_kind kind,
         enum sim_task_state state)
{
    const uint32_t task = draw_task(c, state);

    if (task != 0)
        add(c, kind, task);
}

/* One task is kept for the end. */
static void
add_create(struct candidates *c)
{
    if (sim_world_tasks(c->world) + 1 < SIM_SCHEDULED_MAX)
        add(c, SIM_EV_CREATE, 0);
}

static void
add_waits(struct candidates *c)
{
    add_if(c, SIM_EV_SLEEP, SIM_EV_SLEEP);
    add_if(c, SIM_EV_PARK, SIM_EV_PARK);
    add_if(c, SIM_EV_PARK, SIM_EV_PARK_SEND);
    add_if(c, SIM_EV_PARK, SIM_EV_PARK_RECEIVE);
    add_if(c, SIM_EV_PARK, SIM_EV_PARK_SELECT);
    add_if(c, SIM_EV_PARK_LOCK, SIM_EV_PARK_LOCK);
    add_if(c, SIM_EV_PARK_LOCK, SIM_EV_PARK_CONDITION);
    add_if(c, SIM_EV_PARK_NETWORK, SIM_EV_PARK_NETWORK);
}

static void
add_tracing(struct candidates *c)
{
    const bool traces = sim_world_traces(c->world);

    if (sim_world_stalls_anywhere(c->world))
        return; /* the world cannot be stopped */
    if (traces)
        add_if(c, SIM_EV_TRACE_STOP, SIM_EV_TRACE_STOP);
    else if (sim_sessions(c->world) < SIM_TRACE_SESSIONS_MAX)
        for (int weight = 0; weight < 6; weight++)
            add(c, SIM_EV_TRACE_START, 0);
    if (ask(c->generator, 16, SIM_OP, ASK_EVENT) == 15)
        add(c, traces ? SIM_EV_TRACE_START : SIM_EV_TRACE_STOP, 0);
}

static void
add_running(struct candidates *c, const struct sim_task *task)
{
    add(c, SIM_EV_YIELD, 0);
    add_if(c, SIM_EV_PREEMPT, SIM_EV_PREEMPT);
    add_if(c, SIM_EV_END, SIM_EV_END);
    add_if(c, SIM_EV_STOP, SIM_EV_STOP);
    add_waits(c);
    if (task->was_woken && task->waits != SIM_EV_SLEEP &&
        task->waits != SIM_EV_PARK_NETWORK) {
        for (int weight = 0; weight < 4; weight++)
            add_if(c, SIM_EV_PARK_AGAIN, SIM_EV_PARK_AGAIN);
    }
    add_if(c, SIM_EV_SYSCALL, SIM_EV_SYSCALL);
    add_if(c, SIM_EV_SYSCALL, SIM_EV_SYSCALL);
    if (!sim_world_stalls_anywhere(c->world))
        add_if(c, SIM_EV_SET_PROCS, SIM_EV_SET_PROCS);
    add_tracing(c);
}

/* Work that goes on whoever is on the processor. */
static void
add_work(struct candidates *c, const struct sim_proc *proc)
{
    add_create(c);
    add_with(c, SIM_EV_WAKE, SIM_TASK_WAITING);
    for (int weight = 0; weight < 4 && c->generator->has_heap; weight++)
        add(c, DO_COLLECT, 0);
    if (!c->generator->has_heap)
        add_if(c, SIM_EV_GC_MARK,
               sim_world_gc(c->world)->marking ? SIM_EV_GC_TERMINATE
                                               : SIM_EV_GC_MARK);
    add_if(c, SIM_EV_SCAN_START,
           proc->scans ? SIM_EV_SCAN_DONE : SIM_EV_SCAN_START);
    if (c->generator->has_heap)
        return; /* the rest follows from it */
    add_if(c, SIM_EV_GC_MARK,
           proc->sweeps ? SIM_EV_SWEEP_DONE : SIM_EV_SWEEP_START);
    add_if(c, SIM_EV_HEAP, SIM_EV_HEAP);
    add_if(c, SIM_EV_HEAP, SIM_EV_GOAL);
}

static void
add_free(struct candidates *c, const struct sim_proc *proc)
{
    add_with(c, SIM_EV_RUN, SIM_TASK_RUNNABLE);
    add_with(c, SIM_EV_RUN, SIM_TASK_RUNNABLE);
    add_with(c, SIM_EV_RUN, SIM_TASK_LEFT);
    add_with(c, SIM_EV_RUN, SIM_TASK_QUEUED);
    if (may(c, SIM_EV_PROC_STOP) && !proc->scans && !proc->sweeps)
        add(c, SIM_EV_PROC_STOP, 0);
}

/* What needs no processor. */
static void
add_elsewhere(struct candidates *c)
{
    add_with(c, SIM_EV_LEFT, SIM_TASK_AWAY);
    if (may(c, SIM_EV_QUEUED))
        add_with(c, SIM_EV_QUEUED, SIM_TASK_LEFT);
    if (may(c, SIM_EV_WAKE_OUTSIDE))
        add_with(c, SIM_EV_WAKE_OUTSIDE, SIM_TASK_WAITING);
    if (may(c, SIM_EV_TIMERS))
        add(c, SIM_EV_TIMERS,
            ask(c->generator, sim_world_tasks(c->world) + 1, SIM_DATA,
                ASK_OF_TASKS));
    if (sim_world_reader_stalls(c->world)) {
        add(c, SIM_EV_READER_BACK, 0);
        return;
    }
    add_if(c, SIM_EV_READ, SIM_EV_READ);
    /* Where nobody reads, nobody can start again; and something must be
     * possible. */
    if (!may(c, SIM_EV_READ) && (c->count == 0 || !sim_world_traces(c->world)))
        add(c, SIM_EV_READ, 0);
}

static void
list(struct candidates *c)
{
    const struct sim_proc *proc = sim_world_proc(c->world, c->proc);
    const struct sim_task *task = sim_world_task(c->world, proc->task);

    if (sim_world_stalls(c->world, c->proc)) {
        add(c, SIM_EV_GO_ON, 0);
    } else if (!proc->has_thread) {
        add(c, SIM_EV_PROC_START, 0);
    } else if (proc->task == 0) {
        add_free(c, proc);
        add_work(c, proc);
    } else if (task->state == SIM_TASK_SYSCALL) {
        add(c, SIM_EV_SYSRETURN, 0);
        add(c, SIM_EV_SYSBLOCK, 0);
        add(c, SIM_EV_SYSBLOCK, 0);
    } else {
        add_running(c, task);
        add_work(c, proc);
        for (int weight = 0; weight < 16 && c->generator->has_heap; weight++)
            add(c, DO_WORK, 0);
    }
    if (c->generator->has_heap && !sim_world_stalls(c->world, c->proc))
        add(c, DO_READ, 0);
    add_elsewhere(c);
}

/* ------------------------------------------------------------------ the events
 */

static uint64_t
draw_number(struct sim_generator *g, enum sim_event_kind kind)
{
    static const uint64_t bytes[] = {4096, 0, 1, 127, 128, UINT64_MAX};
    static const uint64_t chunks[] = {0, 1, 2, 5};

    if (kind == SIM_EV_SET_PROCS)
        return 1 + ask(g, SIM_PROCS_MAX, SIM_DATA, ASK_NUMBER);
    if (kind == SIM_EV_READ)
        return chunks[ask(g, 4, SIM_DATA, ASK_NUMBER)];
    return bytes[ask(g, 6, SIM_DATA, ASK_NUMBER)];
}

static void
draw_arguments(struct sim_generator *g, struct sim_event *event)
{
    static const uint64_t delays[] = {0, 1, 63, 1000, 100000, 1U << 30};
    const char *arguments = sim_event_arguments(event->kind);

    event->delay_ticks = delays[ask(g, 6, SIM_CLOCK, ASK_TRACE_DELAY)];
    if (strchr(arguments, 'S') != NULL)
        event->stack =
            ask(g, g->config.stacks_count, SIM_DATA, ASK_TRACE_STACK);
    if (strchr(arguments, 'n') != NULL)
        event->size_bytes = draw_number(g, event->kind);
}

/* A world begins with one task that runs. */
static bool
next_of_beginning(struct sim_generator *g, struct sim_event *event)
{
    static const enum sim_event_kind kinds[] = {SIM_EV_PROC_START,
                                                SIM_EV_CREATE, SIM_EV_RUN};

    if (g->events >= sizeof kinds / sizeof *kinds)
        return false;
    *event = (struct sim_event){
        .kind = kinds[g->events], .object = 1, .stack = TRUTH_NO_STACK};
    return true;
}

/* What is not done on a processor that sweeps, or is. */
static void
sweep_if_needed(const struct candidates *c, struct sim_event *event)
{
    const bool sweeps = sim_world_proc(c->world, c->proc)->sweeps;

    if (event->kind == SIM_EV_GC_SWEEP && !sweeps)
        event->kind = SIM_EV_SWEEP_START;
    else if (event->kind != SIM_EV_GC_SWEEP && sweeps)
        event->kind = SIM_EV_SWEEP_DONE;
    if (event->kind == SIM_EV_SWEEP_START || event->kind == SIM_EV_SWEEP_DONE)
        event->object = 0;
}

/* Draw a candidate further that is one of the heap. returns: false: nothing */
static bool
draw_of_heap(struct candidates *c, int what, struct sim_event *event)
{
    struct sim_generator *g = c->generator;

    *event = (struct sim_event){.proc = c->proc, .stack = TRUTH_NO_STACK};
    if (what == DO_WORK) {
        event->task = sim_world_proc(c->world, c->proc)->task;
        return sim_draw_work(
            g, c->world,
            (enum sim_work)g->works[ask(g, g->works_count, SIM_OP, ASK_WORK)],
            event);
    }
    if (what == DO_READ)
        return sim_draw_reading(g, event);
    if (!sim_draw_collection(g, c->world, event))
        return false;
    sweep_if_needed(c, event);
    return true;
}

/* One turn of a processor; false if nothing is done. */
static bool
take_turn(struct sim_generator *g, const struct sim_world *world,
          struct sim_event *event)
{
    struct candidates c = {.generator = g, .world = world};
    struct sim_event chosen;

    c.proc = ask(g, sim_world_procs(world), SIM_SCHED, ASK_PROC);
    if (sim_draw_trace_fault(g, world, c.proc, event))
        return true;
    list(&c);
    chosen = c.events[ask(g, c.count, SIM_OP, ASK_EVENT)];
    if ((int)chosen.kind < SIM_EV_COUNT)
        *event = chosen;
    else if (!draw_of_heap(&c, (int)chosen.kind, event))
        return false;
    draw_arguments(g, event);
    return true;
}

bool
sim_generator_next_task(struct sim_generator *g, const struct sim_world *world,
                        struct sim_event *event)
{
    if (next_of_beginning(g, event)) {
        g->events++;
        return true;
    }
    while (!g->ends) {
        if (g->events >= SIM_EVENTS_MAX - LAST_EVENTS ||
            ask(g, g->more_bound, SIM_FLOW, ASK_TRACE_MORE) == 0)
            break;
        if (take_turn(g, world, event)) {
            g->events++;
            return true;
        }
    }
    g->ends = true;
    return sim_quiet_next(world, event);
}
