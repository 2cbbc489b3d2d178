/* trace_oracle.c -- the events that the trace of a world must contain. See
 * trace_oracle.h. */
#include "model/trace/trace_oracle.h"

#include <stdlib.h>
#include <string.h>

#include "model/model_assert.h"

enum { SESSIONS_MAX = 64, TASKS_KNOWN = 64, RANKS_A_STEP = 4096 };

enum task_state { DEAD, READY, WAITING, AWAY };

struct task {
    enum task_state state;
    uint64_t pc;
    uint32_t stack;
    bool in_syscall; /* as far as the trace knows */
    /* When its thread last returned, as it does before the task comes back. */
    uint32_t left_step;
    uint64_t left_ticks;
};

struct model_oracle {
    struct model_oracle_event *events; /* of all sessions */
    uint32_t events_count;
    uint32_t events_max;
    struct task *tasks; /* by number */
    uint32_t tasks_max;
    uint32_t tasks_count; /* highest task number so far */
    struct model_oracle_session sessions[SESSIONS_MAX];
    uint32_t sessions_count;

    const struct truth_log *log;
    uint64_t divisor;
    uint64_t late_ticks;
    uint32_t step;       /* being read */
    uint32_t reported;   /* events listed for this step */
    uint32_t first_step; /* first step of this session */
    bool is_on;
    bool is_collecting;
    uint64_t timers;
    uint64_t ticks_start;
    uint64_t ns_start;
};

/* Allow one event per fact, and for each session those of the world's state. */
uint32_t
model_oracle_events_max(uint32_t facts_max)
{
    const uint32_t world = 3 + 2 * TASKS_KNOWN;

    return facts_max + SESSIONS_MAX * world;
}

struct model_oracle *
model_oracle_new(uint32_t facts_max)
{
    struct model_oracle *oracle = calloc(1, sizeof *oracle);

    if (oracle == NULL)
        return NULL;
    oracle->tasks_max = facts_max + 1;
    oracle->events_max = model_oracle_events_max(facts_max);
    oracle->events = calloc(oracle->events_max, sizeof *oracle->events);
    oracle->tasks = calloc(oracle->tasks_max, sizeof *oracle->tasks);
    if (oracle->events == NULL || oracle->tasks == NULL) {
        model_oracle_delete(oracle);
        return NULL;
    }
    return oracle;
}

void
model_oracle_delete(struct model_oracle *oracle)
{
    if (oracle == NULL)
        return;
    free(oracle->events);
    free(oracle->tasks);
    free(oracle);
}

uint32_t
model_oracle_sessions(const struct model_oracle *oracle)
{
    return oracle->sessions_count;
}

const struct model_oracle_session *
model_oracle_session(const struct model_oracle *oracle, uint32_t index)
{
    MODEL_ASSERT(index < oracle->sessions_count);
    return &oracle->sessions[index];
}

static struct model_oracle_session *
session_of(struct model_oracle *oracle)
{
    return &oracle->sessions[oracle->sessions_count - 1];
}

/* ---- listing events ---- */

/* Ticks of a file start at 1: a syscall exit at 0 would have no known time. */
static int64_t
file_ticks(const struct model_oracle *oracle, uint64_t clock_ticks)
{
    return (int64_t)(clock_ticks / oracle->divisor + 1);
}

/* List an event for the current step, with the fields that all events have. */
static struct model_oracle_event *
report(struct model_oracle *oracle, enum model_trace_type type,
       const struct truth_entry *step)
{
    struct model_oracle_event *event;

    MODEL_ASSERT(oracle->events_count < oracle->events_max);
    MODEL_ASSERT(oracle->reported < RANKS_A_STEP);
    event = &oracle->events[oracle->events_count++];
    *event = (struct model_oracle_event){
        .type = type,
        .rank = (uint64_t)oracle->step * RANKS_A_STEP + oracle->reported++,
        .g = step->task,
        .ticks = file_ticks(oracle, (uint64_t)step->at_ticks),
        .ticks_latest =
            file_ticks(oracle, (uint64_t)step->at_ticks + oracle->late_ticks),
        .stack = step->stack,
        .proc = step->proc,
    };
    session_of(oracle)->count++;
    session_of(oracle)->outside += step->proc == TRUTH_NO_PROC;
    return event;
}

/* List the state of the world, for a session that begins. */
static void
report_world(struct model_oracle *oracle, const struct truth_entry *step)
{
    struct truth_entry here = *step;

    here.task = 0; /* the trace does not know yet which task runs */
    for (uint32_t id = 1; id <= oracle->tasks_count; id++) {
        struct task *task = &oracle->tasks[id];
        struct model_oracle_event *event;

        task->in_syscall = task->state == AWAY;
        if (task->state == DEAD)
            continue;
        event = report(oracle, MODEL_TRACE_GO_CREATE, &here);
        event->arg = id;
        event->pc = task->pc;
        event->stack = task->stack;
        if (task->state == WAITING || task->state == AWAY) {
            event = report(oracle,
                           task->state == AWAY ? MODEL_TRACE_GO_IN_SYSCALL
                                               : MODEL_TRACE_GO_WAITING,
                           &here);
            event->g = id;
            event->arg = id;
        }
    }
    report(oracle, MODEL_TRACE_PROC_START, &here)->arg = step->size_bytes;
    report(oracle, MODEL_TRACE_GO_START, step)->arg = step->task;
    if (oracle->is_collecting)
        report(oracle, MODEL_TRACE_GC_START, &here);
}

static void
begin(struct model_oracle *oracle, const struct truth_entry *step)
{
    struct model_oracle_session *session;

    MODEL_ASSERT(!oracle->is_on && oracle->sessions_count < SESSIONS_MAX);
    session = &oracle->sessions[oracle->sessions_count++];
    *session = (struct model_oracle_session){
        .events = &oracle->events[oracle->events_count],
        .was_collecting = oracle->is_collecting,
    };
    oracle->is_on = true;
    oracle->first_step = oracle->step;
    oracle->ticks_start = (uint64_t)step->at_ticks;
    oracle->ns_start = (uint64_t)step->cycles;
    report_world(oracle, step);
}

static uint64_t
hertz(const struct model_oracle *oracle, const struct truth_entry *step,
      int64_t more_ticks)
{
    __extension__ typedef __int128 wide;
    const wide ticks =
        (wide)(int64_t)((uint64_t)step->at_ticks - oracle->ticks_start) +
        more_ticks;
    const wide ns = step->cycles - (int64_t)oracle->ns_start;
    const wide clock_hz = ns > 0 ? ticks * 1000000000 / ns : 1;
    const wide hz =
        (clock_hz < INT64_MAX ? clock_hz : INT64_MAX) / (wide)oracle->divisor;

    return hz < 1 ? 1 : (uint64_t)hz;
}

static void
end(struct model_oracle *oracle, const struct truth_entry *step)
{
    MODEL_ASSERT(oracle->is_on);
    report(oracle, MODEL_TRACE_GO_SCHED, step);
    oracle->is_on = false;
    session_of(oracle)->has_ended = true;
    session_of(oracle)->timers = oracle->timers;
    session_of(oracle)->ticks_per_second_least =
        hertz(oracle, step, -(int64_t)oracle->late_ticks);
    session_of(oracle)->ticks_per_second_most =
        hertz(oracle, step, (int64_t)oracle->late_ticks);
}

/* List the return of a task that has a processor again after a system call. */
static void
come_back(struct model_oracle *oracle, const struct truth_entry *step)
{
    struct task *task = &oracle->tasks[step->task];
    const bool knows = task->left_step >= oracle->first_step;
    struct model_oracle_event *event;

    if (oracle->is_on && task->in_syscall) {
        event = report(oracle, MODEL_TRACE_GO_SYS_EXIT, step);
        event->arg = step->task;
        if (knows) {
            event->rank = (uint64_t)task->left_step * RANKS_A_STEP;
            event->ticks = file_ticks(oracle, task->left_ticks);
            event->ticks_latest =
                file_ticks(oracle, task->left_ticks + oracle->late_ticks);
        }
        if (event->ticks == 0) /* the clock has wrapped */
            event->ticks = 1;
        if (event->ticks_latest == 0)
            event->ticks_latest = 1;
        session_of(oracle)->returns += knows;
        session_of(oracle)->returns_late += !knows;
    }
}

/* Mark the events of a processor that is removed: the trace must not lose
 * them. */
static void
mark_gone(struct model_oracle *oracle, uint32_t proc)
{
    struct model_oracle_session *session;

    if (!oracle->is_on)
        return;
    session = session_of(oracle);
    session->gone++;
    for (uint32_t i = 0; i < session->count; i++) {
        struct model_oracle_event *event =
            &oracle->events[oracle->events_count - 1 - i];

        event->is_gone |= event->proc == proc;
    }
}

/* ---- the facts ---- */

/* Facts that each become one event of a fixed type. */
static const struct {
    enum model_trace_type type;
    enum { HAS_NOTHING, HAS_VALUE, HAS_OTHER, HAS_TASK } arg;
    enum { STAYS, GETS_READY, GETS_WAITING, GETS_AWAY, GETS_DEAD } task;
    bool by_nobody; /* in the trace the event has no task */
} tellings[TRUTH_KIND_COUNT] = {
    [TRUTH_PROC_START] = {MODEL_TRACE_PROC_START, HAS_VALUE, STAYS, false},
    [TRUTH_PROC_STOP] = {MODEL_TRACE_PROC_STOP, HAS_NOTHING, STAYS, false},
    [TRUTH_PROCS] = {MODEL_TRACE_GOMAXPROCS, HAS_VALUE, STAYS, false},
    [TRUTH_CREATE] = {MODEL_TRACE_GO_CREATE, HAS_OTHER, STAYS, false},
    [TRUTH_RUN] = {MODEL_TRACE_GO_START, HAS_TASK, GETS_READY, false},
    [TRUTH_END] = {MODEL_TRACE_GO_END, HAS_NOTHING, GETS_DEAD, false},
    [TRUTH_STOP] = {MODEL_TRACE_GO_STOP, HAS_NOTHING, GETS_WAITING, false},
    [TRUTH_YIELD] = {MODEL_TRACE_GO_SCHED, HAS_NOTHING, GETS_READY, false},
    [TRUTH_PREEMPT] = {MODEL_TRACE_GO_PREEMPT, HAS_NOTHING, GETS_READY, false},
    [TRUTH_SLEEP] = {MODEL_TRACE_GO_SLEEP, HAS_NOTHING, GETS_WAITING, false},
    [TRUTH_PARK] = {MODEL_TRACE_GO_BLOCK, HAS_NOTHING, GETS_WAITING, false},
    [TRUTH_PARK_SEND] = {MODEL_TRACE_GO_BLOCK_SEND, HAS_NOTHING, GETS_WAITING,
                         false},
    [TRUTH_PARK_RECEIVE] = {MODEL_TRACE_GO_BLOCK_RECV, HAS_NOTHING,
                            GETS_WAITING, false},
    [TRUTH_PARK_SELECT] = {MODEL_TRACE_GO_BLOCK_SELECT, HAS_NOTHING,
                           GETS_WAITING, false},
    [TRUTH_PARK_LOCK] = {MODEL_TRACE_GO_BLOCK_SYNC, HAS_NOTHING, GETS_WAITING,
                         false},
    [TRUTH_PARK_CONDITION] = {MODEL_TRACE_GO_BLOCK_COND, HAS_NOTHING,
                              GETS_WAITING, false},
    [TRUTH_PARK_NETWORK] = {MODEL_TRACE_GO_BLOCK_NET, HAS_NOTHING, GETS_WAITING,
                            false},
    [TRUTH_FUTILE] = {MODEL_TRACE_FUTILE_WAKEUP, HAS_NOTHING, STAYS, false},
    [TRUTH_WAKE] = {MODEL_TRACE_GO_UNBLOCK, HAS_OTHER, STAYS, false},
    [TRUTH_SYSCALL] = {MODEL_TRACE_GO_SYS_CALL, HAS_NOTHING, STAYS, false},
    [TRUTH_SYSBLOCK] = {MODEL_TRACE_GO_SYS_BLOCK, HAS_NOTHING, GETS_AWAY,
                        false},
    [TRUTH_MARK] = {MODEL_TRACE_GC_START, HAS_NOTHING, STAYS, true},
    [TRUTH_TERMINATE] = {MODEL_TRACE_GC_DONE, HAS_NOTHING, STAYS, true},
    [TRUTH_SCAN_START] = {MODEL_TRACE_SCAN_START, HAS_NOTHING, STAYS, true},
    [TRUTH_SCAN_DONE] = {MODEL_TRACE_SCAN_DONE, HAS_NOTHING, STAYS, true},
    [TRUTH_SWEEP_START] = {MODEL_TRACE_SWEEP_START, HAS_NOTHING, STAYS, false},
    [TRUTH_SWEEP_DONE] = {MODEL_TRACE_SWEEP_DONE, HAS_NOTHING, STAYS, false},
    [TRUTH_HEAP] = {MODEL_TRACE_HEAP_ALLOC, HAS_VALUE, STAYS, false},
    [TRUTH_GOAL] = {MODEL_TRACE_NEXT_GC, HAS_VALUE, STAYS, false},
};

static void
report_as_it_is(struct model_oracle *oracle, const struct truth_entry *step)
{
    struct model_oracle_event *event =
        report(oracle, tellings[step->kind].type, step);

    if (tellings[step->kind].by_nobody)
        event->g = 0;
    switch (tellings[step->kind].arg) {
    case HAS_NOTHING:
        break;
    case HAS_VALUE:
        event->arg = step->size_bytes;
        break;
    case HAS_OTHER:
        event->arg = step->object;
        break;
    case HAS_TASK:
        event->arg = step->task;
        break;
    }
    if (step->kind == TRUTH_CREATE)
        event->pc = step->size_bytes;
    session_of(oracle)->futile += step->kind == TRUTH_FUTILE;
}

static void
be_born(struct model_oracle *oracle, const struct truth_entry *step)
{
    MODEL_ASSERT(step->object == oracle->tasks_count + 1);
    MODEL_ASSERT(step->object < oracle->tasks_max);
    oracle->tasks_count++;
    oracle->tasks[step->object] = (struct task){
        .state = READY,
        .pc = step->size_bytes,
        .stack = step->stack,
    };
}

/* Update the tasks' states after a fact. */
static void
follow_tasks(struct model_oracle *oracle, const struct truth_entry *step)
{
    static const enum task_state states[] = {
        [GETS_READY] = READY,
        [GETS_WAITING] = WAITING,
        [GETS_AWAY] = AWAY,
        [GETS_DEAD] = DEAD,
    };
    struct task *task = &oracle->tasks[step->task];

    if (tellings[step->kind].task != STAYS)
        task->state = states[tellings[step->kind].task];
    if (step->kind == TRUTH_CREATE)
        be_born(oracle, step);
    if (step->kind == TRUTH_WAKE)
        oracle->tasks[step->object].state = READY;
    if (step->kind == TRUTH_SYSBLOCK)
        task->in_syscall = oracle->is_on;
    if (step->kind == TRUTH_LEFT) {
        task->left_step = oracle->step;
        task->left_ticks = (uint64_t)step->at_ticks;
    }
    if (step->kind == TRUTH_QUEUED)
        task->state = READY;
    if (step->kind == TRUTH_MARK || step->kind == TRUTH_TERMINATE)
        oracle->is_collecting = step->kind == TRUTH_MARK;
}

static void
follow(struct model_oracle *oracle, const struct truth_entry *step)
{
    MODEL_ASSERT(step->task <= oracle->tasks_count);
    if (step->kind == TRUTH_TRACE_START) {
        begin(oracle, step);
    } else if (step->kind == TRUTH_TRACE_STOP) {
        end(oracle, step);
    } else if (step->kind == TRUTH_BACK) {
        come_back(oracle, step);
    } else if (step->kind == TRUTH_PROC_GONE) {
        mark_gone(oracle, step->proc);
    } else if (step->kind == TRUTH_TIMERS) {
        oracle->timers = step->object;
    } else if (tellings[step->kind].type != MODEL_TRACE_NONE && oracle->is_on) {
        report_as_it_is(oracle, step);
    }
    follow_tasks(oracle, step);
}

void
model_oracle_read(struct model_oracle *oracle, const struct truth_log *log,
                  uint64_t tick_divisor, uint64_t late_ticks)
{
    MODEL_ASSERT(log->lost == 0);
    oracle->log = log;
    oracle->divisor = tick_divisor;
    oracle->late_ticks = late_ticks;
    oracle->events_count = 0;
    oracle->tasks_count = 0;
    oracle->tasks[0] = (struct task){.state = DEAD};
    oracle->sessions_count = 0;
    oracle->is_on = false;
    oracle->is_collecting = false;
    oracle->timers = 0;
    for (oracle->step = 0; oracle->step < log->entries_count; oracle->step++) {
        oracle->reported = 0;
        follow(oracle, &log->entries[oracle->step]);
    }
}

bool
model_oracle_order(const struct model_oracle_session *session, uint32_t kept,
                   uint32_t *order)
{
    bool runs_back = false;

    for (uint32_t i = 0; i < kept; i++) {
        uint32_t at = i;

        for (; at > 0 &&
               session->events[order[at - 1]].rank > session->events[i].rank;
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 1; i < kept; i++)
        runs_back |= session->events[order[i]].ticks <
                     session->events[order[i - 1]].ticks;
    return runs_back;
}

uint64_t
model_oracle_fact(const struct model_oracle_event *event)
{
    return event->rank / RANKS_A_STEP;
}
