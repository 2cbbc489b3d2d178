/*
 * sched_procs.c -- the processors of a traced world: who runs on them, and how
 * the world stops.
 */
#include "sched_inside.h"

const char sim_sched_not_running[] = "no task runs on the processor";

void
sim_sched_fact(struct sim_sched_world *world, enum truth_step_kind kind,
               uint32_t proc, uint64_t other, uint64_t value, uint32_t stack)
{
    sim_sched_tell(world, (struct truth_step){
                              .kind = kind,
                              .proc = proc,
                              .task = world->procs[proc].task,
                              .other = other,
                              .value = value,
                              .stack = stack,
                          });
}

void
sim_sched_happen(struct sim_sched_world *world, enum truth_step_kind kind,
                 uint32_t proc, enum prof_trace_event event, uint32_t stack)
{
    sim_sched_fact(world, kind, proc, 0, 0, stack);
    sim_sched_emit(world, proc, event, 0, 0, stack);
}

struct sim_sched_task *
sim_sched_task_on(struct sim_sched_world *world, uint32_t proc)
{
    return &world->tasks[world->procs[proc].task];
}

bool
sim_sched_runs(struct sim_sched_world *world, uint32_t proc)
{
    return world->procs[proc].task != 0 &&
           sim_sched_task_on(world, proc)->state == SIM_TASK_RUNNING;
}

bool
sim_sched_is_free(const struct sim_sched_world *world, uint32_t proc)
{
    return world->procs[proc].has_thread && world->procs[proc].task == 0;
}

void
sim_sched_take_off(struct sim_sched_world *world, uint32_t proc,
                   enum sim_task_state state)
{
    sim_sched_task_on(world, proc)->state = state;
    world->procs[proc].task = 0;
}

static void
start_proc(struct sim_sched_world *world, uint32_t proc)
{
    world->procs[proc].has_thread = true;
    world->threads++;
    sim_sched_fact(world, STEP_PROC_START, proc, 0, world->threads,
                   TRUTH_NO_STACK);
    sim_sched_emit(world, proc, PROF_EV_PROC_START, world->threads, 0,
                   TRUTH_NO_STACK);
}

static void
stop_proc(struct sim_sched_world *world, uint32_t proc)
{
    sim_sched_happen(world, STEP_PROC_STOP, proc, PROF_EV_PROC_STOP,
                     TRUTH_NO_STACK);
    world->procs[proc].has_thread = false;
}

const char *
sim_sched_apply_proc(struct sim_sched_world *world,
                     const struct sim_sched_event *event)
{
    struct sim_sched_proc *proc = &world->procs[event->proc];

    if (event->kind == SIM_SCHED_PROC_START) {
        if (proc->has_thread)
            return "the processor has a thread";
        start_proc(world, event->proc);
        return NULL;
    }
    if (!sim_sched_is_free(world, event->proc))
        return "the processor is not free";
    if (proc->scans || proc->sweeps)
        return "the processor works for the collector";
    stop_proc(world, event->proc);
    return NULL;
}

void
sim_sched_lose_proc(struct sim_sched_world *world, uint32_t proc)
{
    sim_sched_happen(world, STEP_SYSBLOCK, proc, PROF_EV_GO_SYSBLOCK,
                     TRUTH_NO_STACK);
    sim_sched_task_on(world, proc)->owes_exit = world->traces;
    sim_sched_take_off(world, proc, SIM_TASK_AWAY);
}

static void
end_gc_work(struct sim_sched_world *world, uint32_t proc)
{
    if (world->procs[proc].scans)
        sim_sched_happen(world, STEP_SCAN_DONE, proc, PROF_EV_GC_SCAN_DONE,
                         TRUTH_NO_STACK);
    if (world->procs[proc].sweeps)
        sim_sched_happen(world, STEP_SWEEP_DONE, proc, PROF_EV_GC_SWEEP_DONE,
                         TRUTH_NO_STACK);
    world->procs[proc].scans = false;
    world->procs[proc].sweeps = false;
}

void
sim_sched_stop_world(struct sim_sched_world *world, uint32_t asking)
{
    for (uint32_t p = 0; p < world->procs_count; p++) {
        end_gc_work(world, p);
        if (p == asking)
            continue;
        if (sim_sched_runs(world, p)) {
            sim_sched_happen(world, STEP_PREEMPT, p, PROF_EV_GO_PREEMPT,
                             TRUTH_NO_STACK);
            sim_sched_take_off(world, p, SIM_TASK_RUNNABLE);
        } else if (world->procs[p].task != 0) {
            sim_sched_lose_proc(world, p);
        }
        if (world->procs[p].has_thread)
            stop_proc(world, p);
    }
}

void
sim_sched_run_task(struct sim_sched_world *world, uint32_t proc, uint64_t id)
{
    struct sim_sched_task *task = &world->tasks[id];

    world->procs[proc].task = id;
    sim_sched_fact(world, STEP_RUN, proc, 0, 0, TRUTH_NO_STACK);
    sim_sched_emit(world, proc, PROF_EV_GO_START, id, 0, TRUTH_NO_STACK);
    task->state = SIM_TASK_RUNNING;
    task->proc = proc;
}

/* Who asks may lose its own processor, and goes on on the first one. */
static void
move_to_first(struct sim_sched_world *world, uint32_t proc)
{
    const uint64_t id = world->procs[proc].task;

    sim_sched_happen(world, STEP_YIELD, proc, PROF_EV_GO_SCHED, TRUTH_NO_STACK);
    sim_sched_take_off(world, proc, SIM_TASK_RUNNABLE);
    stop_proc(world, proc);
    start_proc(world, 0);
    sim_sched_run_task(world, 0, id);
}

const char *
sim_sched_apply_procs(struct sim_sched_world *world,
                      const struct sim_sched_event *event)
{
    const uint32_t count = (uint32_t)event->number;

    if (!sim_sched_runs(world, event->proc))
        return sim_sched_not_running;
    if (event->number == 0 || event->number > SIM_SCHED_PROCS_MAX)
        return "the number of processors is out of range";
    sim_sched_stop_world(world, event->proc);
    sim_sched_fact(world, STEP_PROCS, event->proc, 0, count, event->stack);
    sim_sched_emit(world, event->proc, PROF_EV_GOMAXPROCS, count, 0,
                   event->stack);
    sim_sched_task_on(world, event->proc)->was_woken = false;
    if (event->proc >= count)
        move_to_first(world, event->proc);
    for (uint32_t p = 0; p < SIM_SCHED_PROCS_MAX; p++) {
        if (p >= count && world->procs[p].exists) {
            sim_sched_fact(world, STEP_PROC_GONE, p, 0, 0, TRUTH_NO_STACK);
            prof_trace_proc_free(world->trace, p);
        }
        world->procs[p].exists = p < count;
    }
    world->procs_count = count;
    return NULL;
}
