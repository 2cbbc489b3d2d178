/* task_list.c -- the tasks of a world as its runtime lists them. */
#include "sim/instruments/task_list.h"

#include <inttypes.h>
#include <stdio.h>

/* The state of a task, in the words of Go's wait reasons. */
static const char *
waiting_for(enum sim_event_kind waits)
{
    switch ((int)waits) {
    case SIM_EV_SLEEP:
        return "sleep";
    case SIM_EV_PARK_SEND:
        return "chan send";
    case SIM_EV_PARK_RECEIVE:
        return "chan receive";
    case SIM_EV_PARK_SELECT:
        return "select";
    case SIM_EV_PARK_LOCK:
        return "semacquire";
    case SIM_EV_PARK_CONDITION:
        return "cond wait";
    case SIM_EV_PARK_NETWORK:
        return "IO wait";
    default:
        return "waiting";
    }
}

static const char *
state_of(const struct sim_task *task)
{
    switch (task->state) {
    case SIM_TASK_RUNNABLE:
    case SIM_TASK_QUEUED:
        return "runnable";
    case SIM_TASK_RUNNING:
        return "running";
    case SIM_TASK_WAITING:
        return waiting_for(task->waits);
    case SIM_TASK_SYSCALL:
    case SIM_TASK_AWAY:
    case SIM_TASK_LEFT:
        return "syscall";
    case SIM_TASK_STOPPED:
        return "select (no cases)";
    case SIM_TASK_DEAD:
        break;
    }
    return "dead";
}

/* Do the minutes that a task has been in its state mean anything? */
static bool
is_waiting(const struct sim_task *task)
{
    return task->state == SIM_TASK_WAITING || task->state == SIM_TASK_AWAY ||
           task->state == SIM_TASK_STOPPED;
}

void
sim_task_describe(struct prof_task_stack *task, uintptr_t *start,
                  const struct sim_world *world, uint32_t number)
{
    const struct sim_config *config = sim_world_config(world);
    const struct sim_task *mine = sim_world_task(world, number);
    const struct truth_stack *stack;

    *task = (struct prof_task_stack){.id = number, .state = state_of(mine)};
    if (is_waiting(mine))
        task->waits_ns = sim_world_now_ns(world) - mine->since_ns;
    if (number != 1 && mine->created != TRUTH_NO_STACK &&
        config->stacks[mine->created].depth > 0)
        task->created_by = config->stacks[mine->created].frames[0];
    if (!mine->has_run) {
        *start = (uintptr_t)mine->pc + 1;
        task->stack = start;
        task->depth = 1;
    } else if (mine->stack != TRUTH_NO_STACK) {
        stack = &config->stacks[mine->stack];
        task->stack = stack->frames;
        task->depth =
            stack->depth < config->depth_max ? stack->depth : config->depth_max;
    }
}

void
sim_task_number(char text[12], uint32_t number)
{
    snprintf(text, 12, "%" PRIu32, number);
}

static void
add(struct sim_task_list *list, const struct sim_world *world, uint32_t number)
{
    const size_t i = list->count++;
    struct prof_task_stack *task = &list->tasks[i];

    sim_task_describe(task, &list->starts[i], world, number);
    sim_task_number(list->numbers[i], number);
    list->labels[i] =
        (struct prof_label){.key = "task", .value = list->numbers[i]};
    list->records[i] = (struct prof_count_record){.stack = task->stack,
                                                  .depth = task->depth,
                                                  .labels_count = 1,
                                                  .labels = &list->labels[i]};
}

void
sim_task_list(struct sim_task_list *list, const struct sim_world *world,
              uint32_t own, bool with_system)
{
    list->count = 0;
    if (own != 0)
        add(list, world, own);
    for (uint32_t id = 1; id <= sim_world_tasks(world); id++) {
        const struct sim_task *task = sim_world_task(world, id);

        if (id != own && task->state != SIM_TASK_DEAD &&
            (with_system || !task->is_system))
            add(list, world, id);
    }
}
