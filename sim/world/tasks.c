/*
 * tasks.c -- the events of tasks that processors take.
 *
 *      RUNNABLE <--> RUNNING --wait--> WAITING --wake--> RUNNABLE
 *                       |
 *                    syscall --> SYSCALL --blocks--> AWAY --left--> LEFT
 *                       ^           |                                |
 *                       +--returns--+              QUEUED <--queued--+
 *                       +-------------------run------+------run------+
 *
 * This file keeps the rules that a tracer imposes on a runtime. When a thread
 * takes the processor of a task in a system call, it reports that before the
 * task's return is noted. A task that returns from a system call is reported
 * back before it runs. A wake-up is called futile only if the current trace has
 * seen all of it.
 */
#include "sim/world/world_internal.h"

static const char no_task[] = "there is no such task";
static const char nobody_runs[] =
    "neither a task nor the scheduler runs on the processor";

static bool
is_born(const struct sim_world *world, uint32_t task)
{
    return task != 0 && task <= world->tasks_count;
}

const char *
sim_world_apply_create(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t id = world->tasks_count + 1;
    const bool is_system = id > 1 && !sim_world_runs(world, event->proc);

    if (!sim_world_runs(world, event->proc) &&
        !sim_world_is_free(world, event->proc))
        return nobody_runs;
    if (id > SIM_SCHEDULED_MAX)
        return "too many tasks";
    world->tasks_count = id;
    world->tasks[id] = (struct sim_task){
        .created = event->stack,
        .stack = TRUTH_NO_STACK, /* it has not begun */
        .is_system = is_system,
        .pc = is_system ? SIM_SYSTEM_PC(id) : SIM_TASK_PC(id),
    };
    sim_world_fact(world, TRUTH_CREATE, event->proc, id, world->tasks[id].pc,
                   event->stack);
    sim_task_on(world, event->proc)->was_woken = false;
    return NULL;
}

/* Report a task back that was in a system call, before it runs again. */
static void
come_back(struct sim_world *world, uint32_t proc, uint32_t id)
{
    sim_world_state(world, proc,
                    (struct truth_entry){.kind = TRUTH_BACK,
                                         .proc = proc,
                                         .task = id,
                                         .stack = TRUTH_NO_STACK});
}

const char *
sim_world_apply_run(struct sim_world *world, const struct sim_event *event)
{
    enum sim_task_state state;

    if (!sim_world_is_free(world, event->proc))
        return "the processor is not free";
    if (!is_born(world, event->object))
        return no_task;
    state = world->tasks[event->object].state;
    if (state == SIM_TASK_LEFT || state == SIM_TASK_QUEUED)
        come_back(world, event->proc, event->object);
    else if (state != SIM_TASK_RUNNABLE)
        return "the task is not runnable";
    sim_run_task(world, event->proc, event->object);
    return NULL;
}

/* How the kinds of leaving a processor differ. */
static const struct {
    enum truth_kind fact;
    enum sim_task_state state;
} leavings[SIM_EV_COUNT] = {
    [SIM_EV_END] = {TRUTH_END, SIM_TASK_DEAD},
    [SIM_EV_STOP] = {TRUTH_STOP, SIM_TASK_STOPPED},
    [SIM_EV_YIELD] = {TRUTH_YIELD, SIM_TASK_RUNNABLE},
    [SIM_EV_PREEMPT] = {TRUTH_PREEMPT, SIM_TASK_RUNNABLE},
    [SIM_EV_SLEEP] = {TRUTH_SLEEP, SIM_TASK_WAITING},
    [SIM_EV_PARK] = {TRUTH_PARK, SIM_TASK_WAITING},
    [SIM_EV_PARK_SEND] = {TRUTH_PARK_SEND, SIM_TASK_WAITING},
    [SIM_EV_PARK_RECEIVE] = {TRUTH_PARK_RECEIVE, SIM_TASK_WAITING},
    [SIM_EV_PARK_SELECT] = {TRUTH_PARK_SELECT, SIM_TASK_WAITING},
    [SIM_EV_PARK_LOCK] = {TRUTH_PARK_LOCK, SIM_TASK_WAITING},
    [SIM_EV_PARK_CONDITION] = {TRUTH_PARK_CONDITION, SIM_TASK_WAITING},
    [SIM_EV_PARK_NETWORK] = {TRUTH_PARK_NETWORK, SIM_TASK_WAITING},
};

const char *
sim_leave(struct sim_world *world, uint32_t proc, enum sim_event_kind kind,
          uint32_t stack)
{
    struct sim_task *task = sim_task_on(world, proc);

    if (!sim_world_runs(world, proc))
        return sim_not_running;
    if (kind == SIM_EV_END || kind == SIM_EV_STOP)
        sim_drop_all(world, proc);
    sim_world_fact(world, leavings[kind].fact, proc, 0, 0,
                   kind == SIM_EV_END ? TRUTH_NO_STACK : stack);
    if (kind != SIM_EV_PREEMPT)
        task->was_woken = false;
    if (leavings[kind].state == SIM_TASK_WAITING)
        task->waits = kind;
    sim_take_off(world, proc, leavings[kind].state);
    return NULL;
}

const char *
sim_world_apply_leave(struct sim_world *world, const struct sim_event *event)
{
    return sim_leave(world, event->proc, event->kind, event->stack);
}

/* A futile wake-up: what the task waited for is gone, and it waits again. */
const char *
sim_world_apply_again(struct sim_world *world, const struct sim_event *event)
{
    const struct sim_task *task = sim_task_on(world, event->proc);

    if (!sim_world_runs(world, event->proc))
        return sim_not_running;
    if (!task->was_woken || task->waits == SIM_EV_SLEEP ||
        task->waits == SIM_EV_PARK_NETWORK)
        return "the task was not woken for nothing";
    sim_world_fact(world, TRUTH_FUTILE, event->proc, 0, 0, TRUTH_NO_STACK);
    return sim_leave(world, event->proc, task->waits, event->stack);
}

const char *
sim_world_apply_wake(struct sim_world *world, const struct sim_event *event)
{
    const bool outside = event->kind == SIM_EV_WAKE_OUTSIDE;
    const uint32_t stack = outside ? TRUTH_NO_STACK : event->stack;
    struct sim_task *task;

    if (!is_born(world, event->object))
        return no_task;
    task = &world->tasks[event->object];
    if (task->state != SIM_TASK_WAITING)
        return "the task does not wait";
    if (task->waits_for_lock)
        return "the task waits for a lock; who has that lets it go";
    if (outside) {
        sim_world_state(world, event->proc,
                        (struct truth_entry){.kind = TRUTH_WAKE,
                                             .proc = TRUTH_NO_PROC,
                                             .object = event->object,
                                             .stack = stack});
    } else if (sim_world_runs(world, event->proc) ||
               sim_world_is_free(world, event->proc)) {
        sim_world_fact(world, TRUTH_WAKE, event->proc, event->object, 0, stack);
        sim_task_on(world, event->proc)->was_woken = false;
    } else {
        return nobody_runs;
    }
    task->state = SIM_TASK_RUNNABLE;
    task->was_woken = true;
    return NULL;
}

/* ---- system calls ---- */

const char *
sim_world_apply_in_syscall(struct sim_world *world,
                           const struct sim_event *event)
{
    struct sim_task *task = sim_task_on(world, event->proc);

    if (event->kind == SIM_EV_SYSCALL) {
        if (!sim_world_runs(world, event->proc))
            return sim_not_running;
        sim_world_fact(world, TRUTH_SYSCALL, event->proc, 0, 0, event->stack);
        task->state = SIM_TASK_SYSCALL;
        task->was_woken = false;
        return NULL;
    }
    if (world->procs[event->proc].task == 0 || task->state != SIM_TASK_SYSCALL)
        return "no task is in a system call on the processor";
    if (event->kind == SIM_EV_SYSRETURN)
        task->state = SIM_TASK_RUNNING;
    else
        sim_lose_proc(world, event->proc);
    return NULL;
}

const char *
sim_world_apply_away(struct sim_world *world, const struct sim_event *event)
{
    const bool leaves = event->kind == SIM_EV_LEFT;
    struct sim_task *task;

    if (!is_born(world, event->object))
        return no_task;
    task = &world->tasks[event->object];
    if (task->state != (leaves ? SIM_TASK_AWAY : SIM_TASK_LEFT))
        return leaves ? "the task is not away in a system call"
                      : "the task has not left a system call";
    sim_world_state(world, event->proc,
                    (struct truth_entry){
                        .kind = leaves ? TRUTH_LEFT : TRUTH_QUEUED,
                        .proc = TRUTH_NO_PROC,
                        .task = event->object,
                        .stack = TRUTH_NO_STACK,
                    });
    task->state = leaves ? SIM_TASK_LEFT : SIM_TASK_QUEUED;
    return NULL;
}

const char *
sim_task_text(const struct sim_task *task)
{
    static const char *const waits[SIM_EV_COUNT] = {
        [SIM_EV_SLEEP] = "sleeps",
        [SIM_EV_PARK] = "waits",
        [SIM_EV_PARK_SEND] = "waits to send",
        [SIM_EV_PARK_RECEIVE] = "waits to receive",
        [SIM_EV_PARK_SELECT] = "waits for one of many",
        [SIM_EV_PARK_LOCK] = "waits for a lock",
        [SIM_EV_PARK_CONDITION] = "waits for a condition",
        [SIM_EV_PARK_NETWORK] = "waits for the network",
    };

    switch (task->state) {
    case SIM_TASK_RUNNABLE:
        return "can run";
    case SIM_TASK_WAITING:
        return waits[task->waits];
    case SIM_TASK_AWAY:
        return "is in a system call";
    case SIM_TASK_LEFT:
    case SIM_TASK_QUEUED:
        return "is back from a system call";
    case SIM_TASK_STOPPED:
        return "waits for ever";
    case SIM_TASK_RUNNING:
    case SIM_TASK_SYSCALL:
    case SIM_TASK_DEAD:
        break;
    }
    return NULL;
}
