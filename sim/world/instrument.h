/*
 * instrument.h -- what watches a world: the heap profile, the contention
 * profiles, the tracer, and so on. Each is one file behind this interface; the
 * world knows none of them by name.
 *
 * The world states each fact in its truth log, then tells it to the instruments
 * that want facts of that kind, in the order of instrument.def. An instrument
 * calls the library as a runtime would at that moment, and keeps what the
 * library returned for the judge. It never changes the world and makes no
 * choice, so a run without it is otherwise the same.
 */
#ifndef SIM_WORLD_INSTRUMENT_H
#define SIM_WORLD_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world/event.h"
#include "sim/truth/truth.h"

struct sim_answer;
struct sim_limits;
struct sim_wake;
struct sim_world;

enum sim_instrument_id {
#define X(id, word, kind, needs) id,
#include "sim/world/instrument.def"
#undef X
    SIM_INSTRUMENT_COUNT
};

/* A set of instruments, a bit each. */
#define SIM_INSTRUMENT_BIT(id) (UINT32_C(1) << (id))

/* What an instrument needs in a run, and the instruments that need it. */
enum sim_instrument_needs {
    SIM_NEEDS_NOTHING,
    SIM_NEEDS_LIBRARY,
    SIM_NEEDS_TASKS,
    SIM_NEEDS_FOREIGN
};

enum {
    SIM_PROFILES = 0 /* what a world carries unless it says otherwise */
#define X(id, word, kind, needs) \
    | ((int)(SIM_NEEDS_##needs == SIM_NEEDS_LIBRARY) << (id))
#include "sim/world/instrument.def"
#undef X
    ,
    SIM_OF_TASKS = 0
#define X(id, word, kind, needs) \
    | ((int)(SIM_NEEDS_##needs == SIM_NEEDS_TASKS) << (id))
#include "sim/world/instrument.def"
#undef X
    ,
    SIM_ALL_INSTRUMENTS = 0 /* that watch our library, not another profiler */
#define X(id, word, kind, needs) \
    | ((int)(SIM_NEEDS_##needs != SIM_NEEDS_FOREIGN) << (id))
#include "sim/world/instrument.def"
#undef X
};

/* The first field of an instrument's own struct. */
struct sim_instrument {
    const struct sim_instrument_kind *kind;
};

/* Receives a fact; the entry also has details of its event, such as the room of
 * a snapshot. */
typedef void sim_hear(struct sim_instrument *instrument,
                      struct sim_world *world, const struct truth_entry *fact);

struct sim_instrument_kind {
    /* All its memory, once. returns: NULL if there is not enough */
    struct sim_instrument *(*create)(const struct sim_limits *limits);
    void (*destroy)(struct sim_instrument *instrument);

    /*
     * Forget everything: a run of `world` begins, which is already configured.
     * Called only if the run carries the instrument.
     *
     * returns: NULL, or why it refuses the configuration (static text)
     */
    const char *(*begin)(struct sim_instrument *instrument,
                         struct sim_world *world);

    /*
     * Called once for each kind of fact. returns: the function to call when
     * such a fact is stated; NULL: none
     */
    sim_hear *(*hears)(enum truth_kind kind);

    /*
     * Called before the world lets an event happen. NULL: never refuses one.
     *
     * returns: NULL, or why this event cannot happen now (static text)
     */
    const char *(*refuses)(const struct sim_instrument *instrument,
                           const struct sim_world *world,
                           const struct sim_event *event);

    /* Called when an event is complete and all its facts were reported; may be
     * NULL. */
    void (*after)(struct sim_instrument *instrument, struct sim_world *world,
                  const struct sim_event *event);

    /* Stop recording by the library's own call, or start again. NULL: no such
     * call; a stopped instrument receives no facts. */
    void (*stop)(struct sim_instrument *instrument, struct sim_world *world,
                 bool stops);
};

#define X(id, word, kind, needs) extern const struct sim_instrument_kind kind;
#include "sim/world/instrument.def"
#undef X

/* returns: the word of instrument.def, never NULL */
const char *sim_instrument_word(enum sim_instrument_id id);
const struct sim_instrument_kind *
sim_instrument_kind(enum sim_instrument_id id);

/*
 * returns: the world's instrument of this kind, to be passed to the functions
 *          of its header (instrument_*.h); NULL if the world has none
 */
struct sim_instrument *sim_world_instrument(const struct sim_world *world,
                                            enum sim_instrument_id id);

/* returns: where an instrument puts what was read (world.h) */
struct sim_answer *sim_world_answer_room(struct sim_world *world);

/* returns: the end of the wait that the current fact, RELEASED or WOKEN,
 *          reports; NULL for other facts */
const struct sim_wake *sim_world_wake(const struct sim_world *world);

/* For the tracer: its reader has read a trace to its end. */
void sim_world_was_read(struct sim_world *world, uint32_t clock_proc);

/*
 * Stop an instrument that the run carries, or start it again. The tracer may be
 * stopped only while no trace is on or unread.
 */
void sim_world_stop(struct sim_world *world, enum sim_instrument_id id,
                    bool stops);

/* returns: does the run carry it? */
bool sim_world_carries(const struct sim_world *world,
                       enum sim_instrument_id id);

#endif
