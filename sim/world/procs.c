/*
 * procs.c -- processors that take tasks: which task runs on each, and how the
 * world stops.
 */
#include "sim/world/world_internal.h"

const char sim_not_running[] = "no task runs on the processor";

static void
happen(struct sim_world *world, enum truth_kind kind, uint32_t proc)
{
    sim_world_fact(world, kind, proc, 0, 0, TRUTH_NO_STACK);
}

struct sim_task *
sim_task_on(struct sim_world *world, uint32_t proc)
{
    return &world->tasks[world->procs[proc].task];
}

bool
sim_world_runs(const struct sim_world *world, uint32_t proc)
{
    const uint32_t task = world->procs[proc].task;

    return task != 0 && world->tasks[task].state == SIM_TASK_RUNNING;
}

bool
sim_world_is_free(const struct sim_world *world, uint32_t proc)
{
    return world->procs[proc].has_thread && world->procs[proc].task == 0;
}

void
sim_take_off(struct sim_world *world, uint32_t proc, enum sim_task_state state)
{
    struct sim_task *task = sim_task_on(world, proc);

    task->state = state;
    task->since_ns = sim_world_now_ns(world);
    world->procs[proc].task = 0;
}

static void
start_proc(struct sim_world *world, uint32_t proc)
{
    world->procs[proc].has_thread = true;
    world->threads++;
    sim_world_fact(world, TRUTH_PROC_START, proc, 0, world->threads,
                   TRUTH_NO_STACK);
}

static void
stop_proc(struct sim_world *world, uint32_t proc)
{
    happen(world, TRUTH_PROC_STOP, proc);
    world->procs[proc].has_thread = false;
}

const char *
sim_world_apply_proc(struct sim_world *world, const struct sim_event *event)
{
    struct sim_proc *proc = &world->procs[event->proc];

    if (event->kind == SIM_EV_PROC_START) {
        if (proc->has_thread)
            return "the processor has a thread";
        start_proc(world, event->proc);
        return NULL;
    }
    if (!sim_world_is_free(world, event->proc))
        return "the processor is not free";
    if (proc->scans || proc->sweeps)
        return "the processor works for the collector";
    stop_proc(world, event->proc);
    return NULL;
}

void
sim_lose_proc(struct sim_world *world, uint32_t proc)
{
    happen(world, TRUTH_SYSBLOCK, proc);
    sim_take_off(world, proc, SIM_TASK_AWAY);
}

static void
end_gc_work(struct sim_world *world, uint32_t proc)
{
    if (world->procs[proc].scans)
        happen(world, TRUTH_SCAN_DONE, proc);
    if (world->procs[proc].sweeps)
        happen(world, TRUTH_SWEEP_DONE, proc);
    world->procs[proc].scans = false;
    world->procs[proc].sweeps = false;
}

void
sim_stop_world(struct sim_world *world, uint32_t asking)
{
    for (uint32_t p = 0; p < world->procs_count; p++) {
        end_gc_work(world, p);
        if (p == asking)
            continue;
        if (sim_world_runs(world, p)) {
            sim_world_fact(world, TRUTH_PREEMPT, p, 0, 0,
                           sim_task_on(world, p)->stack);
            sim_take_off(world, p, SIM_TASK_RUNNABLE);
        } else if (world->procs[p].task != 0) {
            sim_lose_proc(world, p);
        }
        if (world->procs[p].has_thread)
            stop_proc(world, p);
    }
}

void
sim_run_task(struct sim_world *world, uint32_t proc, uint32_t id)
{
    struct sim_task *task = &world->tasks[id];

    world->procs[proc].task = id;
    happen(world, TRUTH_RUN, proc);
    task->state = SIM_TASK_RUNNING;
    task->has_run = true;
    task->proc = proc;
}

/* If the number of processors shrinks, the task that changed it may be on one
 * that no longer exists: it continues on processor 0. */
static void
move_to_first(struct sim_world *world, uint32_t proc)
{
    const uint32_t id = world->procs[proc].task;

    happen(world, TRUTH_YIELD, proc);
    sim_take_off(world, proc, SIM_TASK_RUNNABLE);
    stop_proc(world, proc);
    start_proc(world, 0);
    sim_run_task(world, 0, id);
}

const char *
sim_world_apply_set_procs(struct sim_world *world,
                          const struct sim_event *event)
{
    const uint32_t count = (uint32_t)event->size_bytes;

    if (!sim_world_runs(world, event->proc))
        return sim_not_running;
    if (event->size_bytes == 0 || event->size_bytes > SIM_PROCS_MAX)
        return "the number of processors is out of range";
    sim_stop_world(world, event->proc);
    sim_world_fact(world, TRUTH_PROCS, event->proc, 0, count, event->stack);
    sim_task_on(world, event->proc)->was_woken = false;
    if (event->proc >= count)
        move_to_first(world, event->proc);
    for (uint32_t p = 0; p < SIM_PROCS_MAX; p++) {
        if (p >= count && world->procs[p].exists)
            happen(world, TRUTH_PROC_GONE, p);
        world->procs[p].exists = p < count;
    }
    world->procs_count = count;
    return NULL;
}
