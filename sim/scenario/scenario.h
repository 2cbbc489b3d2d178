/*
 * scenario.h -- scenario files (`.sim`): a world's configuration, its events,
 * and the expected results, as text that people read and write.
 * docs/scenarios.md describes the language.
 *
 * Theory. A scenario leaves no choice open: its events are everything that
 * happens in a world, so it always runs the same way, even when generators
 * change. It is read from a file (sim_scenario_read), or built from a
 * configuration and a list of events, such as a shrunk failure
 * (sim_scenario_build). Both give the same structure, and printing is the
 * inverse of reading:
 *
 *      parse(print(s)) = s          print(parse(print(s))) = print(s)
 *
 * Invariants of a scenario, however it was made
 *   I1  Object numbers are dense, from 0, in the order of their `alloc` events;
 *       no event names an object before its `alloc`.
 *   I2  Stack indexes are below config.stacks_count.
 *   I3  Fields that an event kind does not use are 0.
 *   I4  An expectation belongs to an event that reads a profile; expects[] are
 *       in file order, so `event` never decreases.
 *   I5  World time stays below SIM_SCENARIO_TICKS_LIMIT.
 */
#ifndef SIM_SCENARIO_SCENARIO_H
#define SIM_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/input.h"
#include "sim/world/event.h"
#include "sim/truth/truth.h"
#include "sim/world/world.h"

enum {
    SIM_SCENARIO_EVENTS_MAX = 1000000,
    SIM_SCENARIO_EXPECTS_MAX = 1000000,
    SIM_SCENARIO_STACKS_MAX = 65536,
    SIM_SCENARIO_DEPTH_MAX = 2048,     /* of a program's stack; kept: 1024 */
    SIM_SCENARIO_FRAMES_MAX = 1 << 20, /* of all stacks */
    SIM_SCENARIO_NAME_MAX = 64,        /* bytes of a stack's or object's name */
    SIM_SCENARIO_FUNCTION_MAX = 255,   /* bytes of a function's name */
    SIM_SCENARIO_LINE_MAX = 1 << 20,   /* bytes, without the line end */
    SIM_SCENARIO_FILE_MAX = SIM_INPUT_SCENARIO_MAX, /* bytes */
    SIM_SCENARIO_DRIFT_MAX = 1000000000,            /* ppm, either way */
    SIM_SCENARIO_BUCKETS_DEFAULT = 1024,
    SIM_SCENARIO_PROPERTY_MAX = 8 /* bytes of a property's id */
};
#define SIM_SCENARIO_TICKS_LIMIT (UINT64_C(1) << 43)
#define SIM_SCENARIO_OFFSET_MAX  (INT64_C(1) << 62) /* ticks, either way */

/* Why something failed, for people: "FILE:LINE: reason". */
struct sim_error {
    char text[256];
};

enum sim_expect_kind {
    SIM_EXPECT_COUNT,      /* first: how many buckets are listed, or would be */
    SIM_EXPECT_SHORT,      /* the room was too small */
    SIM_EXPECT_NOTHING,    /* an empty listing */
    SIM_EXPECT_HEAP,       /* stack, size_bytes; first allocs, second frees */
    SIM_EXPECT_CONTENTION, /* stack; first events, second cycles */
    SIM_EXPECT_ORDER       /* the listing is listed[first .. first + second) */
};

/* What a reading event must return. */
struct sim_expect {
    enum sim_expect_kind kind;
    uint32_t event; /* index of the reading event it follows */
    uint32_t line;  /* in the source; 0 if built */
    uint32_t stack;
    uint64_t size_bytes;
    uint64_t first;
    uint64_t second;
};

/* One position of an expected listing order. */
struct sim_listed {
    uint32_t stack;
    uint64_t size_bytes; /* heap only */
};

/* The expected outcome of the whole scenario. */
enum sim_outcome {
    SIM_OUTCOME_UNSAID,
    SIM_OUTCOME_OK,    /* no property is broken */
    SIM_OUTCOME_BROKEN /* this property is (a known-bad rule set) */
};

/* The function a frame is in. */
struct sim_frame_name {
    uintptr_t frame;
    const char *name;
};

struct sim_pool; /* memory of names and frames */

struct sim_scenario {
    char *name;   /* file name, for messages */
    char *header; /* comment after the first line; lines end in '\n'; or "" */
    struct sim_config config; /* config.stacks is `stacks` */
    struct truth_stack *stacks;
    char **stack_names; /* as many as stacks */
    struct sim_event *events;
    uint32_t *event_lines; /* in the source; 0 if built */
    uint32_t events_count;
    char **object_names;
    uint32_t objects_count;
    struct sim_frame_name *frame_names; /* by frame */
    uint32_t frame_names_count;
    struct sim_expect *expects;
    uint32_t expects_count;
    struct sim_listed *listed;
    uint32_t listed_count;
    enum sim_outcome outcome;
    uint32_t outcome_line;
    char property[SIM_SCENARIO_PROPERTY_MAX + 1]; /* SIM_OUTCOME_BROKEN */
    struct sim_pool *pool;
};

/*
 * Read a scenario file.
 *
 * out:     *error, on NULL: one line, the first thing wrong
 * in:      path
 * returns: a scenario to be freed with sim_scenario_free(); NULL on error
 */
struct sim_scenario *sim_scenario_read(const char *path,
                                       struct sim_error *error);

/*
 * Read a scenario from memory. The bytes may be anything; if they are not a
 * scenario, *error says why.
 *
 * out:     *error, on NULL
 * in:      text, `bytes` long, needs no end mark; name, for messages
 * returns: as sim_scenario_read()
 */
struct sim_scenario *sim_scenario_parse(const char *text, size_t bytes,
                                        const char *name,
                                        struct sim_error *error);

/* What a scenario is built from. Everything is borrowed during the call. */
struct sim_scenario_source {
    const struct sim_config *config;
    const struct sim_event *events;
    uint32_t events_count;
    const char *header; /* NULL, or lines of a comment for the top */
    enum sim_outcome outcome;
    const char *property; /* SIM_OUTCOME_BROKEN: its id, such as "H2" */
    /* NULL, or names a frame; its answer may be NULL. */
    const char *(*frame_name)(void *context, uintptr_t frame);
    void *context;
};

/*
 * Make a scenario from a configuration and events, such as a shrunk failure.
 * Objects are called o1, o2, ... and stacks s1, s2, ... in the order of their
 * first event. Stacks without an event are left out, and the others are
 * renumbered without gaps.
 *
 * out:     *error, on NULL: an event or field that no file can express
 * returns: as sim_scenario_read()
 */
struct sim_scenario *
sim_scenario_build(const struct sim_scenario_source *source,
                   struct sim_error *error);

/* returns: the size of a world for it, with room for one more event */
struct sim_limits sim_scenario_limits(const struct sim_scenario *scenario);

/* in: scenario, NULL does nothing */
void sim_scenario_free(struct sim_scenario *scenario);

/*
 * Print a scenario in its one canonical form, without defaults and without
 * comments other than the header.
 *
 * returns: false if `file` has an error (ferror)
 */
bool sim_scenario_print(FILE *file, const struct sim_scenario *scenario);

/* Print one event as its line in a file. */
void sim_scenario_print_event(FILE *file, const struct sim_scenario *scenario,
                              const struct sim_event *event);

/*
 * Compare a result with the `expect` lines that follow an event.
 *
 * out:     *error, on false: "FILE:LINE: ...", the first difference
 * in:      event, index of the event that was applied last
 *          answer, what the world returned for it
 * returns: true if all `expect` lines hold, or there are none
 */
bool sim_scenario_check_answer(const struct sim_scenario *scenario,
                               uint32_t event, const struct sim_answer *answer,
                               struct sim_error *error);

/* returns: the name of the function `frame` is in, NULL if it has none */
const char *sim_scenario_frame_name(const struct sim_scenario *scenario,
                                    uintptr_t frame);

/* returns: the virtual return address that a function gets by its name */
uintptr_t sim_frame_address(const char *function);

/* returns: does this event ask the library for a result? */
bool sim_event_reads(enum sim_event_kind kind);

#endif
