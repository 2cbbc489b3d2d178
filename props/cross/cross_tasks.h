/*
 * cross_tasks.h -- the state of a trace's tasks after each of its events, for
 * comparison with other instruments.
 *
 * Futile wake-ups are included; the reader of traces leaves them out.
 */
#ifndef PROPS_CROSS_TASKS_H
#define PROPS_CROSS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace_reader.h"

enum { CROSS_TASKS_MAX = 64 }; /* numbers of tasks are below */

enum cross_state {
    CROSS_ABSENT, /* not heard of, or ended */
    CROSS_RUNNABLE,
    CROSS_RUNNING,
    CROSS_WAITING,
    CROSS_IN_SYSCALL, /* away in one, without its processor */
    CROSS_STOPPED     /* it waits for ever */
};

struct cross_task {
    enum cross_state state;
    bool is_new;    /* created while the trace was on, and never run */
    bool has_stand; /* the trace says where it stands: */
    uint8_t by;     /* at an event of this type (enum model_trace_type), */
    uint64_t stack; /* with the stack of this id, 0: none */
    uint64_t start_pc;
    uint8_t made_by;     /* type of the event that made its state */
    int64_t since_ticks; /* of that event */
    int64_t proc;        /* RUNNING */
    uint32_t changed_at; /* events before the last that concerned it */
};

struct cross_tasks {
    const struct model_trace *trace; /* read, and accepted */
    const uint32_t *order;           /* of its events, by sequence */
    uint32_t at;                     /* events so far */
    bool is_beginning;               /* what was there is being announced */
    struct cross_task tasks[CROSS_TASKS_MAX];
};

/* in: order, of the events of the trace by sequence; both are borrowed */
void cross_tasks_begin(struct cross_tasks *tasks,
                       const struct model_trace *trace, const uint32_t *order);

/*
 * Follow one event.
 *
 * returns: the event, NULL after the last
 */
const struct model_trace_event *cross_tasks_next(struct cross_tasks *tasks);

/* returns: the event that comes next, NULL after the last */
const struct model_trace_event *
cross_tasks_peek(const struct cross_tasks *tasks);

/* returns: the task of that number, NULL if no task can have it */
const struct cross_task *cross_task(const struct cross_tasks *tasks,
                                    uint64_t g);

#endif
