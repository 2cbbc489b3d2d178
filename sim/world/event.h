/*
 * event.h -- the events that drive a world. A list of events and the world's
 * configuration make a scenario, in which no choice is left open.
 */
#ifndef SIM_WORLD_EVENT_H
#define SIM_WORLD_EVENT_H

#include <stdint.h>

enum sim_event_kind {
#define X(id, word, arguments, by, rule) id,
#include "sim/world/event.def"
#undef X
    SIM_EV_COUNT
};

/* The range of events of tasks that processors take. */
#define SIM_EV_TASKS_FIRST  SIM_EV_PROC_START
#define SIM_EV_BLOCKS_FIRST SIM_EV_REALLOC

#define SIM_ROOM_ENOUGH UINT32_MAX          /* room for everything */
#define SIM_ALIGN_MAX   (UINT64_C(1) << 21) /* bytes */
#define SIM_UNTIL_GO_ON INT64_MAX /* length of a stall that only go-on ends */

struct sim_event {
    enum sim_event_kind kind;
    uint32_t task;        /* the task that does it, if one does */
    uint64_t delay_ticks; /* world time since the previous event */
    uint32_t
        object; /* number of the object, unique in a run; or the other task */
    uint32_t stack;      /* index into the world's stacks; TRUTH_NO_STACK */
    uint64_t size_bytes; /* or a number */
    int64_t cycles; /* length of a wait, as its clock measured it; or a rate; or
                       how long; or an alignment, 0: none */
    uint32_t
        lock; /* number of a lock among its kind; or the other task's stack */
    uint32_t room; /* records that fit into a snapshot's buffer; or 1: the
                      block is zeroed */
    uint32_t proc; /* of an event without a task: where, or whose clock */
};

/* returns: the word of event.def, never NULL */
const char *sim_event_word(enum sim_event_kind kind);

/* returns: the argument letters of event.def, never NULL */
const char *sim_event_arguments(enum sim_event_kind kind);

/* returns: whether a task or a processor does it, a letter of event.def */
char sim_event_by(enum sim_event_kind kind);

#endif
