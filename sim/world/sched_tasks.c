/* sched_tasks.c -- what tasks do in a traced world; see sched_apply.c. */
#include "sched_inside.h"

static const char no_task[] = "there is no such task";
static const char nobody_runs[] =
    "neither a task nor the scheduler runs on the processor";

static bool
is_born(const struct sim_sched_world *world, uint64_t task)
{
    return task != 0 && task <= world->tasks_count;
}

const char *
sim_sched_apply_create(struct sim_sched_world *world,
                       const struct sim_sched_event *event)
{
    const uint32_t id = world->tasks_count + 1;

    if (!sim_sched_runs(world, event->proc) &&
        !sim_sched_is_free(world, event->proc))
        return nobody_runs;
    if (id > SIM_SCHED_TASKS_MAX)
        return "too many tasks";
    world->tasks_count = id;
    world->tasks[id] = (struct sim_sched_task){.stack = event->stack};
    sim_sched_fact(world, STEP_CREATE, event->proc, id, SIM_SCHED_PC(id),
                   event->stack);
    sim_sched_emit(world, event->proc, PROF_EV_GO_CREATE, id, SIM_SCHED_PC(id),
                   event->stack);
    sim_sched_task_on(world, event->proc)->was_woken = false;
    return NULL;
}

/* What the trace must hear before the task runs again. */
static void
come_back(struct sim_sched_world *world, uint32_t proc, uint64_t id)
{
    struct sim_sched_task *task = &world->tasks[id];

    sim_sched_tell(world, (struct truth_step){.kind = STEP_BACK,
                                              .proc = proc,
                                              .task = id,
                                              .stack = TRUTH_NO_STACK});
    if (task->owes_exit)
        prof_trace_sysexit(world->trace, proc, id, task->left);
    task->owes_exit = false;
}

const char *
sim_sched_apply_run(struct sim_sched_world *world,
                    const struct sim_sched_event *event)
{
    enum sim_task_state state;

    if (!sim_sched_is_free(world, event->proc))
        return "the processor is not free";
    if (!is_born(world, event->task))
        return no_task;
    state = world->tasks[event->task].state;
    if (state == SIM_TASK_LEFT || state == SIM_TASK_QUEUED)
        come_back(world, event->proc, event->task);
    else if (state != SIM_TASK_RUNNABLE)
        return "the task is not runnable";
    sim_sched_run_task(world, event->proc, event->task);
    return NULL;
}

/* How the kinds of leaving a processor differ. */
static const struct {
    enum truth_step_kind step;
    enum prof_trace_event event;
    enum sim_task_state state;
} leavings[SIM_SCHED_KIND_COUNT] = {
    [SIM_SCHED_END] = {STEP_END, PROF_EV_GO_END, SIM_TASK_DEAD},
    [SIM_SCHED_STOP] = {STEP_STOP, PROF_EV_GO_STOP, SIM_TASK_DEAD},
    [SIM_SCHED_YIELD] = {STEP_YIELD, PROF_EV_GO_SCHED, SIM_TASK_RUNNABLE},
    [SIM_SCHED_PREEMPT] = {STEP_PREEMPT, PROF_EV_GO_PREEMPT, SIM_TASK_RUNNABLE},
    [SIM_SCHED_SLEEP] = {STEP_SLEEP, PROF_EV_GO_SLEEP, SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK] = {STEP_BLOCK, PROF_EV_GO_BLOCK, SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK_SEND] = {STEP_BLOCK_SEND, PROF_EV_GO_BLOCK_SEND,
                              SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK_RECV] = {STEP_BLOCK_RECV, PROF_EV_GO_BLOCK_RECV,
                              SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK_SELECT] = {STEP_BLOCK_SELECT, PROF_EV_GO_BLOCK_SELECT,
                                SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK_SYNC] = {STEP_BLOCK_SYNC, PROF_EV_GO_BLOCK_SYNC,
                              SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK_COND] = {STEP_BLOCK_COND, PROF_EV_GO_BLOCK_COND,
                              SIM_TASK_WAITING},
    [SIM_SCHED_BLOCK_NET] = {STEP_BLOCK_NET, PROF_EV_GO_BLOCK_NET,
                             SIM_TASK_WAITING},
};

const char *
sim_sched_apply_leave(struct sim_sched_world *world, uint32_t proc,
                      enum sim_sched_kind kind, uint32_t stack)
{
    struct sim_sched_task *task = sim_sched_task_on(world, proc);

    if (!sim_sched_runs(world, proc))
        return sim_sched_not_running;
    sim_sched_happen(world, leavings[kind].step, proc, leavings[kind].event,
                     kind == SIM_SCHED_END ? TRUTH_NO_STACK : stack);
    if (kind != SIM_SCHED_PREEMPT)
        task->was_woken = false;
    if (leavings[kind].state == SIM_TASK_WAITING)
        task->waits = kind;
    sim_sched_take_off(world, proc, leavings[kind].state);
    return NULL;
}

/* A task that was woken finds what it waits for gone, and waits again. */
const char *
sim_sched_apply_again(struct sim_sched_world *world,
                      const struct sim_sched_event *event)
{
    const struct sim_sched_task *task = sim_sched_task_on(world, event->proc);

    if (!sim_sched_runs(world, event->proc))
        return sim_sched_not_running;
    if (!task->was_woken || task->waits == SIM_SCHED_SLEEP ||
        task->waits == SIM_SCHED_BLOCK_NET)
        return "the task was not woken for nothing";
    sim_sched_happen(world, STEP_FUTILE, event->proc, PROF_EV_FUTILE_WAKEUP,
                     TRUTH_NO_STACK);
    return sim_sched_apply_leave(world, event->proc, task->waits, event->stack);
}

const char *
sim_sched_apply_wake(struct sim_sched_world *world,
                     const struct sim_sched_event *event)
{
    const bool outside = event->kind == SIM_SCHED_WAKE_OUTSIDE;
    const uint32_t stack = outside ? TRUTH_NO_STACK : event->stack;
    struct sim_sched_task *task;

    if (!is_born(world, event->task))
        return no_task;
    task = &world->tasks[event->task];
    if (task->state != SIM_TASK_WAITING)
        return "the task does not wait";
    if (outside) {
        sim_sched_look(world, event->proc);
        sim_sched_tell(world, (struct truth_step){.kind = STEP_WAKE,
                                                  .proc = TRUTH_NO_PROC,
                                                  .other = event->task,
                                                  .stack = stack});
    } else if (sim_sched_runs(world, event->proc) ||
               sim_sched_is_free(world, event->proc)) {
        sim_sched_fact(world, STEP_WAKE, event->proc, event->task, 0, stack);
        sim_sched_task_on(world, event->proc)->was_woken = false;
    } else {
        return nobody_runs;
    }
    sim_sched_emit(world, outside ? TRUTH_NO_PROC : event->proc,
                   PROF_EV_GO_UNBLOCK, event->task, 0, stack);
    task->state = SIM_TASK_RUNNABLE;
    task->was_woken = true;
    return NULL;
}

/* --------------------------------------------------------------- system calls
 */

const char *
sim_sched_apply_in_syscall(struct sim_sched_world *world,
                           const struct sim_sched_event *event)
{
    struct sim_sched_task *task = sim_sched_task_on(world, event->proc);

    if (event->kind == SIM_SCHED_SYSCALL) {
        if (!sim_sched_runs(world, event->proc))
            return sim_sched_not_running;
        sim_sched_happen(world, STEP_SYSCALL, event->proc, PROF_EV_GO_SYSCALL,
                         event->stack);
        task->state = SIM_TASK_SYSCALL;
        task->was_woken = false;
        return NULL;
    }
    if (world->procs[event->proc].task == 0 || task->state != SIM_TASK_SYSCALL)
        return "no task is in a system call on the processor";
    if (event->kind == SIM_SCHED_SYSRETURN)
        task->state = SIM_TASK_RUNNING;
    else
        sim_sched_lose_proc(world, event->proc);
    return NULL;
}

const char *
sim_sched_apply_away(struct sim_sched_world *world,
                     const struct sim_sched_event *event)
{
    const bool leaves = event->kind == SIM_SCHED_LEFT;
    struct sim_sched_task *task;

    if (!is_born(world, event->task))
        return no_task;
    task = &world->tasks[event->task];
    if (task->state != (leaves ? SIM_TASK_AWAY : SIM_TASK_LEFT))
        return leaves ? "the task is not away in a system call"
                      : "the task has not left a system call";
    sim_sched_look(world, event->proc);
    sim_sched_tell(world, (struct truth_step){
                              .kind = leaves ? STEP_LEFT : STEP_QUEUED,
                              .proc = TRUTH_NO_PROC,
                              .task = event->task,
                              .stack = TRUTH_NO_STACK,
                          });
    if (leaves)
        task->left = prof_trace_stamp(world->trace);
    task->state = leaves ? SIM_TASK_LEFT : SIM_TASK_QUEUED;
    return NULL;
}
