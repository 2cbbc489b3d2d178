/*
 * cross_tasks.h -- the state of a trace's tasks after each of its events, for
 * comparison with other instruments.
 *
 * Futile wake-ups are included; the reader of traces leaves them out.
 */
#ifndef PROPS_CROSS_CROSS_TASKS_H
#define PROPS_CROSS_CROSS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace/trace_reader.h"

enum { CROSS_TASKS_MAX = 64 }; /* numbers of tasks are below */

enum cross_state {
    CROSS_ABSENT, /* not known, or ended */
    CROSS_RUNNABLE,
    CROSS_RUNNING,
    CROSS_WAITING,
    CROSS_IN_SYSCALL, /* in a system call, without its processor */
    CROSS_STOPPED     /* it waits for ever */
};

struct cross_task {
    enum cross_state state;
    bool is_new;    /* created while the trace was on, and has not run */
    bool has_stand; /* the trace shows where it stands: */
    uint8_t by;     /* at an event of this type (enum model_trace_type), */
    uint64_t stack; /* with the stack of this id, 0: none */
    uint64_t start_pc;
    uint8_t made_by;     /* the type of the event that led to its state */
    int64_t since_ticks; /* the time of that event */
    int64_t proc;        /* if it is RUNNING */
    uint32_t changed_at; /* events before the last that changed it */
};

struct cross_tasks {
    const struct model_trace *trace; /* read, and accepted */
    const uint32_t *order;           /* of its events, by sequence */
    uint32_t at;                     /* events so far */
    bool is_beginning;               /* tasks are being announced */
    struct cross_task tasks[CROSS_TASKS_MAX];
};

/* in: order, of the trace's events by sequence number; both are borrowed */
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
