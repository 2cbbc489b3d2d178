/*
 * trace_oracle.h -- which events the trace of a world must contain, derived
 * from the truth log of its tasks (sim/truth/truth.h).
 *
 * The model knows nothing of how a trace is written. It follows every task and
 * processor through the log, and lists for each session the events that a
 * reader must find: first the state of the world, then one event for each fact.
 *
 * An event has two positions: the list is in the order in which events are
 * reported, and `rank` gives the order in which they happened. They differ only
 * for the return from a system call, which happens when the thread returns but
 * is reported when it has found a processor. If the thread returned before this
 * session began, they are the same.
 */
#ifndef MODEL_TRACE_TRACE_ORACLE_H
#define MODEL_TRACE_TRACE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/truth/truth.h"
#include "model/trace/trace_wire.h"

struct model_oracle_event {
    enum model_trace_type type;
    uint64_t rank;
    uint64_t g;           /* task that did it */
    uint64_t arg;         /* other task, or number; 0 if the event has none */
    uint64_t pc;          /* of a new task */
    int64_t ticks;        /* ticks of the file: at least ... */
    int64_t ticks_latest; /* ... at most */
    uint32_t stack; /* index into the log's stacks; TRUTH_NO_STACK: empty */
    uint32_t proc;  /* TRUTH_NO_PROC: none */
    bool is_gone;   /* its processor was removed before the session ended */
};

struct model_oracle_session {
    const struct model_oracle_event *events;
    uint32_t count;
    bool has_ended;
    /* If the session has ended, the file's frequency must lie between these. */
    uint64_t ticks_per_second_least;
    uint64_t ticks_per_second_most;
    uint64_t timers;       /* timer task that the file must name; 0: none */
    bool was_collecting;   /* was a collection running when the session
                              began? */
    uint32_t returns_late; /* syscall returns whose time was before the
                              session */
    uint32_t returns;      /* ... whose time was in it */
    uint32_t futile;
    uint32_t outside; /* events on no processor */
    uint32_t gone;    /* processors that were removed */
};

struct model_oracle;

/* returns: the largest number of events for a log of `facts_max` facts */
uint32_t model_oracle_events_max(uint32_t facts_max);

/* returns: NULL if there is not enough memory */
struct model_oracle *model_oracle_new(uint32_t facts_max);
void model_oracle_delete(struct model_oracle *oracle);

/*
 * Read a log from its beginning.
 *
 * in:      tick_divisor, clock ticks in one tick of the file
 *          late_ticks, how many ticks after an event's step the clock may be
 *          read; above 0 only if the clock runs by itself
 */
void model_oracle_read(struct model_oracle *oracle, const struct truth_log *log,
                       uint64_t tick_divisor, uint64_t late_ticks);

uint32_t model_oracle_sessions(const struct model_oracle *oracle);
const struct model_oracle_session *
model_oracle_session(const struct model_oracle *oracle, uint32_t index);

/*
 * Sort the first `kept` events of a session into the order in which they
 * happened.
 *
 * out:     order, `kept` indexes
 * returns: whether a clock runs backwards in that order
 */
bool model_oracle_order(const struct model_oracle_session *session,
                        uint32_t kept, uint32_t *order);

/* returns: the index of the log entry at which an event happened */
uint64_t model_oracle_fact(const struct model_oracle_event *event);

#endif
