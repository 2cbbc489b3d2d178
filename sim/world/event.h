/*
 * event.h -- the events that drive a world. A list of them, with the world's
 * configuration, is a scenario: it holds no choices any more.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdint.h>

enum sim_event_kind {
#define X(id, word, arguments) id,
#include "event.def"
#undef X
    SIM_EV_COUNT
};

#define SIM_ROOM_ENOUGH UINT32_MAX /* room for whatever there is */

struct sim_event {
    enum sim_event_kind kind;
    uint32_t task;        /* who does it; its processor is task % procs */
    uint64_t delay_ticks; /* world time since the event before */
    uint32_t object;      /* dense number, unique in a run */
    uint32_t stack;       /* index into the world's stacks */
    uint64_t size_bytes;
    int64_t cycles; /* of a contention event, as its clock measured them; or
                       a rate */
    uint32_t lock;  /* number of a lock, of its kind */
    uint32_t room;  /* records that fit into a snapshot's buffer */
};

/* returns: the word of event.def, never NULL */
const char *sim_event_word(enum sim_event_kind kind);

/* returns: the argument letters of event.def, never NULL */
const char *sim_event_arguments(enum sim_event_kind kind);

#endif
