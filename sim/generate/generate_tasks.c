/*
 * generate_tasks.c -- the generator of worlds whose processors take tasks.
 *
 * Each step asks which processor acts, lists what is possible there and in the
 * whole world, and chooses from the list. Its first entry is the dullest step:
 * a processor without a thread starts one, a free one runs a task, a running
 * task yields, and a task in a system call returns from it. Heap events are
 * drawn as in any other world (generate.c).
 */
#include "sim/generate/choice_labels.h"

#include <string.h>

#include "sim/instruments/instrument_cpu.h"
#include "sim/instruments/instrument_trace.h"

enum {
    CANDIDATES_MAX = 64,
    LAST_EVENTS = 24, /* for the end: a few, and one per stalled processor */

    /* Candidates for which more is drawn; they are not kinds of events. */
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

/* ---- what can happen ---- */

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
        add(c, (int)kind, 0);
}

/* Draw one of the tasks in this state; 0 if there is none. */
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
               : found[ask(c->generator, count, SIM_SCHED, LABEL_OF_TASKS)];
}

static void
add_with(struct candidates *c, enum sim_event_kind kind,
         enum sim_task_state state)
{
    const uint32_t task = draw_task(c, state);

    if (task != 0)
        add(c, (int)kind, task);
}

/* Add the creation of a task. The last task is kept for the end. */
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
    if (ask(c->generator, 16, SIM_OP, LABEL_EVENT) == 15)
        add(c, traces ? SIM_EV_TRACE_START : SIM_EV_TRACE_STOP, 0);
}

static void
add_profiles(struct candidates *c)
{
    if (may(c, SIM_EV_GOROUTINES) && !sim_world_stalls_anywhere(c->world))
        for (int weight = 0; weight < 3; weight++)
            add(c, SIM_EV_GOROUTINES, 0);
    if (may(c, SIM_EV_CPU_START))
        for (int weight = 0; weight < 2; weight++)
            add(c,
                sim_cpu_profile(c->world)->is_on ? SIM_EV_CPU_STOP
                                                 : SIM_EV_CPU_START,
                0);
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
    add_profiles(c);
}

/* Work that any task on the processor does. */
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
        return; /* the next steps of the collection follow from this one */
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

/* List events that need no processor. */
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
                LABEL_OF_TASKS));
    if (sim_world_reader_stalls(c->world)) {
        add(c, SIM_EV_READER_BACK, 0);
        return;
    }
    add_if(c, SIM_EV_READ, SIM_EV_READ);
    /* A run without reads still reads when nothing else is possible, and once
     * tracing has stopped: it could not start again otherwise. */
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

/* ---- the events ---- */

static uint64_t
draw_number(struct sim_generator *g, enum sim_event_kind kind)
{
    static const uint64_t bytes[] = {4096, 0, 1, 127, 128, UINT64_MAX};
    static const uint64_t chunks[] = {0, 1, 2, 5};
    const uint64_t per_us = g->config.trace.ticks_per_us;

    if (kind == SIM_EV_SET_PROCS)
        return 1 + ask(g, SIM_PROCS_MAX, SIM_DATA, LABEL_NUMBER);
    if (kind == SIM_EV_CPU_START) /* no more than the profile can take */
        return 1 + ask(g, per_us >= 62 ? 100 : 10, SIM_DATA, LABEL_NUMBER);
    if (kind == SIM_EV_READ)
        return chunks[ask(g, 4, SIM_DATA, LABEL_NUMBER)];
    return bytes[ask(g, 6, SIM_DATA, LABEL_NUMBER)];
}

static void
draw_arguments(struct sim_generator *g, struct sim_event *event)
{
    static const uint64_t delays[] = {0, 1, 63, 1000, 100000, 1U << 30};
    const char *arguments = sim_event_arguments(event->kind);

    event->delay_ticks = delays[ask(g, 6, SIM_CLOCK, LABEL_TRACE_DELAY)];
    if (strchr(arguments, 'S') != NULL)
        event->stack =
            ask(g, g->config.stacks_count, SIM_DATA, LABEL_TRACE_STACK);
    if (strchr(arguments, 'n') != NULL)
        event->size_bytes = draw_number(g, event->kind);
    if (event->kind == SIM_EV_GOROUTINES)
        event->room = SIM_ROOM_ENOUGH;
}

/* Make the first events of a run, after which one task runs. */
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

/* If the event requires that a sweep starts or ends first, replace it by that
 * start or end. */
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

/* Draw the event of a candidate of the heap. returns: false if there is none */
static bool
draw_of_heap(struct candidates *c, int what, struct sim_event *event)
{
    struct sim_generator *g = c->generator;

    *event = (struct sim_event){.proc = c->proc, .stack = TRUTH_NO_STACK};
    if (what == DO_WORK) {
        event->task = sim_world_proc(c->world, c->proc)->task;
        return sim_draw_work(
            g, c->world,
            (enum sim_work)g->works[ask(g, g->works_count, SIM_OP, LABEL_WORK)],
            event);
    }
    if (what == DO_READ)
        return sim_draw_reading(g, event);
    if (!sim_draw_collection(g, c->world, event))
        return false;
    sweep_if_needed(c, event);
    return true;
}

/* Draw one step of a processor. returns: false if nothing is done */
static bool
take_step(struct sim_generator *g, const struct sim_world *world,
          struct sim_event *event)
{
    struct candidates c = {.generator = g, .world = world};
    struct sim_event chosen;

    c.proc = ask(g, sim_world_procs(world), SIM_SCHED, LABEL_PROC);
    if (sim_draw_trace_fault(g, world, c.proc, event))
        return true;
    list(&c);
    chosen = c.events[ask(g, c.count, SIM_OP, LABEL_EVENT)];
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
            ask(g, g->more_bound, SIM_FLOW, LABEL_TRACE_MORE) == 0)
            break;
        if (take_step(g, world, event)) {
            g->events++;
            return true;
        }
    }
    g->ends = true;
    return sim_quiet_next(world, event);
}
