/*
 * trace_oracle.h -- which events the trace of a world must hold, from the truth
 * log of its tasks (sim/truth/truth.h).
 *
 * Nothing here knows how a trace is written. The model follows every task and
 * processor through the log, and lists for each session what a reader must
 * find: first the state of the world, then each fact as the event that reports
 * it.
 *
 * An event has two positions. It is reported at its position in the list. It
 * happened at its `rank`. The two differ only for the return from a system
 * call: it is reported when a processor is found, but happened when the thread
 * came back. If that was before this session could know of it, they are the
 * same.
 */
#ifndef MODEL_TRACE_ORACLE_H
#define MODEL_TRACE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "truth.h"
#include "trace_wire.h"

struct model_oracle_event {
    enum model_trace_type type;
    uint64_t rank;
    uint64_t g;    /* who */
    uint64_t arg;  /* which task, or the number; 0 if the event has none */
    uint64_t pc;   /* of a new task */
    int64_t ticks; /* of the file: from here ... */
    int64_t ticks_latest; /* ... to here */
    uint32_t stack; /* index into the log's stacks; TRUTH_NO_STACK: empty */
    uint32_t proc;  /* TRUTH_NO_PROC: none */
    bool is_gone;   /* its processor went before the session ended */
};

struct model_oracle_session {
    const struct model_oracle_event *events;
    uint32_t count;
    bool has_ended;
    /* One in between the file must name, if the session has ended. */
    uint64_t ticks_per_second_least;
    uint64_t ticks_per_second_most;
    uint64_t timers;       /* task that the file must name; 0: none */
    bool was_collecting;   /* when it began */
    uint32_t returns_late; /* syscall returns that it could not know in time */
    uint32_t returns;      /* ... and that it could */
    uint32_t futile;
    uint32_t outside; /* events on no processor */
    uint32_t gone;    /* processors that went */
};

struct model_oracle;

/* returns: the most events that a log of so many facts can give */
uint32_t model_oracle_events_max(uint32_t facts_max);

/* returns: NULL if there is not enough memory */
struct model_oracle *model_oracle_new(uint32_t facts_max);
void model_oracle_delete(struct model_oracle *oracle);

/*
 * Read a log from its beginning.
 *
 * in:      tick_divisor, clock ticks in one tick of the file
 *          late_ticks, how much later than its step the clock may be read:
 *          above 0 only if the clock moves on by itself
 */
void model_oracle_read(struct model_oracle *oracle, const struct truth_log *log,
                       uint64_t tick_divisor, uint64_t late_ticks);

uint32_t model_oracle_sessions(const struct model_oracle *oracle);
const struct model_oracle_session *
model_oracle_session(const struct model_oracle *oracle, uint32_t index);

/*
 * The first `kept` events of a session in the order in which they happened.
 *
 * out:     order, `kept` indexes
 * returns: whether their clocks run back somewhere
 */
bool model_oracle_order(const struct model_oracle_session *session,
                        uint32_t kept, uint32_t *order);

/* returns: index of the entry of the log at which an event happened */
uint64_t model_oracle_fact(const struct model_oracle_event *event);

#endif
