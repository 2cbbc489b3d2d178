/*
 * cross_goroutines.c -- X3: the goroutine profile against the tasks of a trace.
 *
 * Taking the profile stops the world and starts it again; then the trace has a
 * Gomaxprocs event. The profile is compared with the tasks right before it.
 *
 * If a task has been waiting or runnable since before the trace began, the
 * trace does not have its stack. But it shows that the task has done nothing
 * since, so the previous profile must list it alike (compare_before() below).
 */
#include <inttypes.h>
#include <string.h>

#include "props/cross/cross.h"
#include "prof/trace.h"

/* returns: Go's name of the state of a task that waits at an event; NULL if it
 * has no name of its own */
static const char *
wait_of(uint8_t by)
{
    switch (by) {
    case MODEL_TRACE_GO_SLEEP:
        return "sleep";
    case MODEL_TRACE_GO_BLOCK:
        return "waiting";
    case MODEL_TRACE_GO_BLOCK_SEND:
        return "chan send";
    case MODEL_TRACE_GO_BLOCK_RECV:
        return "chan receive";
    case MODEL_TRACE_GO_BLOCK_SELECT:
        return "select";
    case MODEL_TRACE_GO_BLOCK_SYNC:
        return "semacquire";
    case MODEL_TRACE_GO_BLOCK_COND:
        return "cond wait";
    case MODEL_TRACE_GO_BLOCK_NET:
        return "IO wait";
    default:
        return NULL;
    }
}

static bool
is(const char *state, const char *want)
{
    return strcmp(state, want) == 0;
}

struct comparing {
    struct cross *cross;
    const struct model_trace *trace;
    const struct cross_reading *reading;
    const struct cross_reading *before; /* the last one; NULL: none */
    uint32_t before_at;                 /* events of the trace before it */
    const struct model_trace_event *at; /* its Gomaxprocs event */
};

/* Does the task return from its system call later in the trace? */
static bool
comes_out(const struct comparing *c, uint64_t g)
{
    const struct cross_tasks *tasks = &c->cross->tasks;

    for (uint32_t i = tasks->at; i < c->trace->events_count; i++) {
        const struct model_trace_event *event =
            &c->trace->events[tasks->order[i]];

        if (event->type == MODEL_TRACE_GO_SYS_EXIT && event->g == g)
            return true;
    }
    return false;
}

/* May the profile give the task state `that`, if the trace has it in this
 * one? */
static bool
same_state(const struct comparing *c, uint64_t id,
           const struct cross_task *task, const char *state)
{
    const char *wait;

    switch (task->state) {
    case CROSS_ABSENT:
        return false;
    case CROSS_RUNNABLE: /* returned from a system call, recorded late */
        return is(state, "runnable") ||
               (task->made_by == MODEL_TRACE_GO_SYS_EXIT &&
                is(state, "syscall"));
    case CROSS_RUNNING:
        return is(state, "running");
    case CROSS_IN_SYSCALL: /* it may have returned, which was never recorded */
        return is(state, "syscall") ||
               (is(state, "runnable") &&
                (task->by == MODEL_TRACE_GO_IN_SYSCALL || !comes_out(c, id)));
    case CROSS_STOPPED:
        return is(state, "select (no cases)");
    case CROSS_WAITING:
        break;
    }
    wait = wait_of(task->by);
    if (task->has_stand && wait != NULL)
        return is(state, wait);
    return !is(state, "running") && !is(state, "runnable") &&
           !is(state, "syscall");
}

static const char *
state_name(enum cross_state state)
{
    static const char *const names[] = {"absent",  "runnable",   "running",
                                        "waiting", "in syscall", "stopped"};

    return names[state];
}

static bool
same_place(const struct comparing *c, const struct cross_listed *listed,
           const struct cross_task *task)
{
    if (listed == &c->reading->listed[0])
        return cross_same_stack(c->cross, c->trace, c->at->stack, listed->stack,
                                listed->depth);
    if (task->is_new)
        return listed->stack == NULL && listed->depth == 1 &&
               listed->start == task->start_pc + 1;
    if (!task->has_stand)
        return true; /* not shown: see compare_before() */
    if (listed->stack == NULL && listed->depth > 0)
        return false; /* at the function where it began */
    return cross_same_stack(c->cross, c->trace, task->stack, listed->stack,
                            listed->depth);
}

static void
compare_listed(const struct comparing *c, const struct cross_listed *listed)
{
    const struct cross_task *task = cross_task(&c->cross->tasks, listed->id);

    if (task == NULL || !same_state(c, listed->id, task, listed->state))
        cross_breach(c->cross, PROPS_X3,
                     "the goroutine profile has task %" PRIu64
                     " as \"%s\", the trace as %s",
                     listed->id, listed->state,
                     task == NULL ? "absent" : state_name(task->state));
    else if (SIM_IS_SYSTEM_PC(task->start_pc) &&
             listed != &c->reading->listed[0])
        cross_breach(c->cross, PROPS_X3,
                     "the goroutine profile lists task %" PRIu64
                     " of the runtime",
                     listed->id);
    else if (!same_place(c, listed, task))
        cross_breach(c->cross, PROPS_X3,
                     "task %" PRIu64 " (\"%s\") stands elsewhere in the "
                     "goroutine profile than in the trace",
                     listed->id, listed->state);
}

static const struct cross_listed *
find(const struct cross_reading *reading, uint64_t id)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        if (reading->listed[i].id == id)
            return &reading->listed[i];
    }
    return NULL;
}

static bool
same_listing(const struct cross_listed *a, const struct cross_listed *b)
{
    /* Into and out of a system call a task moves without an event. */
    const bool moves = is(a->state, "syscall") || is(a->state, "runnable");

    if (a->depth != b->depth || a->start != b->start ||
        (!moves && !is(a->state, b->state)))
        return false;
    return a->stack == b->stack || a->depth == 0 ||
           (a->stack != NULL && b->stack != NULL &&
            memcmp(a->stack, b->stack, a->depth * sizeof *a->stack) == 0);
}

/* If nothing has happened to a task since the last profile, it must be listed
 * as there. */
static void
compare_before(const struct comparing *c, const struct cross_listed *listed)
{
    const struct cross_task *task = cross_task(&c->cross->tasks, listed->id);
    const struct cross_listed *before = NULL;

    if (task == NULL || task->has_stand || task->is_new)
        return;
    if (c->before != NULL && task->changed_at < c->before_at)
        before = find(c->before, listed->id);
    if (before == NULL) {
        props_cover_hit(c->cross->cover, COVER_CROSS_NO_STAND);
        return;
    }
    if (!same_listing(before, listed))
        cross_breach(c->cross, PROPS_X3,
                     "the goroutine profile has task %" PRIu64
                     " (\"%s\") elsewhere than before (\"%s\"), and the "
                     "trace has no event of it in between",
                     listed->id, listed->state, before->state);
    props_cover_hit(c->cross->cover, COVER_CROSS_STAND_BEFORE);
}

static void
compare(const struct comparing *c)
{
    if (c->reading->count == 0 || c->reading->listed[0].id != c->at->g)
        cross_breach(c->cross, PROPS_X3,
                     "the goroutine profile does not begin with task %" PRIu64
                     ", which asked for it",
                     c->at->g);
    for (uint32_t i = 0; i < c->reading->count; i++) {
        compare_listed(c, &c->reading->listed[i]);
        compare_before(c, &c->reading->listed[i]);
    }
    for (uint64_t id = 1; id < CROSS_TASKS_MAX; id++) {
        const struct cross_task *task = cross_task(&c->cross->tasks, id);

        if (task->state != CROSS_ABSENT && find(c->reading, id) == NULL &&
            !SIM_IS_SYSTEM_PC(task->start_pc))
            cross_breach(c->cross, PROPS_X3,
                         "the trace has task %" PRIu64
                         " as %s, the goroutine profile does not list it",
                         id, state_name(task->state));
    }
    props_cover_hit(c->cross->cover, COVER_CROSS_GOROUTINES);
}

void
cross_goroutines(struct cross *cross, uint32_t session,
                 const struct model_trace *trace)
{
    struct comparing c = {.cross = cross, .trace = trace};
    uint32_t gomaxprocs = 0;
    uint32_t next = 0;

    while (next < cross->readings_count &&
           cross->readings[next].session != session)
        next++;
    cross_tasks_begin(&cross->tasks, trace, cross->order);
    while ((c.at = cross_tasks_peek(&cross->tasks)) != NULL) {
        c.reading = &cross->readings[next];
        if (c.at->type == MODEL_TRACE_GOMAXPROCS) {
            if (next < cross->readings_count && c.reading->session == session &&
                c.reading->gomaxprocs == gomaxprocs) {
                compare(&c);
                c.before = c.reading;
                c.before_at = cross->tasks.at;
                next++;
            }
            gomaxprocs++;
        }
        cross_tasks_next(&cross->tasks);
    }
    if (next < cross->readings_count &&
        cross->readings[next].session == session)
        cross_breach(cross, PROPS_X3,
                     "a goroutine profile was read after %" PRIu32
                     " Gomaxprocs of the trace, which has %" PRIu32,
                     cross->readings[next].gomaxprocs, gomaxprocs);
}
