/* cross_tasks.c -- see cross_tasks.h. */
#include "props/cross/cross_tasks.h"

#include <string.h>

void
cross_tasks_begin(struct cross_tasks *tasks, const struct model_trace *trace,
                  const uint32_t *order)
{
    tasks->trace = trace;
    tasks->order = order;
    tasks->at = 0;
    tasks->is_beginning = true;
    memset(tasks->tasks, 0, sizeof tasks->tasks);
}

const struct cross_task *
cross_task(const struct cross_tasks *tasks, uint64_t g)
{
    return g > 0 && g < CROSS_TASKS_MAX ? &tasks->tasks[g] : NULL;
}

const struct model_trace_event *
cross_tasks_peek(const struct cross_tasks *tasks)
{
    if (tasks->at == tasks->trace->events_count)
        return NULL;
    return &tasks->trace->events[tasks->order[tasks->at]];
}

/* The state of a task after an event that it does; KEEPS: unchanged. */
enum { KEEPS = -1 };

static int
state_after(enum model_trace_type type)
{
    switch ((int)type) {
    case MODEL_TRACE_GO_START:
        return CROSS_RUNNING;
    case MODEL_TRACE_GO_SCHED:
    case MODEL_TRACE_GO_PREEMPT:
    case MODEL_TRACE_GO_SYS_EXIT:
        return CROSS_RUNNABLE;
    case MODEL_TRACE_GO_WAITING:
    case MODEL_TRACE_GO_SLEEP:
    case MODEL_TRACE_GO_BLOCK:
    case MODEL_TRACE_GO_BLOCK_SEND:
    case MODEL_TRACE_GO_BLOCK_RECV:
    case MODEL_TRACE_GO_BLOCK_SELECT:
    case MODEL_TRACE_GO_BLOCK_SYNC:
    case MODEL_TRACE_GO_BLOCK_COND:
    case MODEL_TRACE_GO_BLOCK_NET:
        return CROSS_WAITING;
    case MODEL_TRACE_GO_IN_SYSCALL:
    case MODEL_TRACE_GO_SYS_BLOCK:
        return CROSS_IN_SYSCALL;
    case MODEL_TRACE_GO_STOP:
        return CROSS_STOPPED;
    case MODEL_TRACE_GO_END:
        return CROSS_ABSENT;
    default:
        return KEEPS;
    }
}

static void
set_state(struct cross_task *task, enum cross_state state,
          const struct model_trace_event *event)
{
    task->state = state;
    task->made_by = event->type;
    task->since_ticks = event->ticks;
}

/* Follow at which event and stack the task stands. A start, the loss of a
 * processor and the return from a system call do not change that. */
static void
set_stand(struct cross_task *task, const struct model_trace_event *event)
{
    const enum model_trace_type type = (enum model_trace_type)event->type;

    if (type == MODEL_TRACE_GO_START)
        task->is_new = false;
    if (!model_trace_type_has_stack(type) && type != MODEL_TRACE_GO_WAITING &&
        type != MODEL_TRACE_GO_IN_SYSCALL)
        return;
    task->has_stand = model_trace_type_has_stack(type);
    task->by = event->type;
    task->stack = event->stack;
}

static void
follow_actor(struct cross_tasks *tasks, const struct model_trace_event *event)
{
    const int state = state_after((enum model_trace_type)event->type);
    struct cross_task *task;

    if (event->g == 0 || event->g >= CROSS_TASKS_MAX)
        return;
    task = &tasks->tasks[event->g];
    task->changed_at = tasks->at;
    set_stand(task, event);
    if (state == KEEPS)
        return;
    set_state(task, (enum cross_state)state, event);
    if (state != CROSS_RUNNING)
        return;
    tasks->is_beginning = false;
    task->proc = model_trace_proc_id(tasks->trace, event->proc);
}

/* Follow the task to which an event happens. */
static void
follow_other(struct cross_tasks *tasks, const struct model_trace_event *event)
{
    struct cross_task *task;

    if (event->arg == 0 || event->arg >= CROSS_TASKS_MAX)
        return;
    task = &tasks->tasks[event->arg];
    if (event->type == MODEL_TRACE_GO_CREATE) {
        *task = (struct cross_task){.start_pc = event->pc,
                                    .is_new = !tasks->is_beginning};
    } else if (event->type != MODEL_TRACE_GO_UNBLOCK) {
        return;
    }
    task->changed_at = tasks->at;
    set_state(task, CROSS_RUNNABLE, event);
}

const struct model_trace_event *
cross_tasks_next(struct cross_tasks *tasks)
{
    const struct model_trace_event *event = cross_tasks_peek(tasks);

    if (event == NULL)
        return NULL;
    tasks->at++;
    follow_actor(tasks, event);
    follow_other(tasks, event);
    return event;
}
