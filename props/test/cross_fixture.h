/*
 * cross_fixture.h -- a small world with all instruments, for tests that compare
 * their results.
 */
#ifndef PROPS_TEST_CROSS_FIXTURE_H
#define PROPS_TEST_CROSS_FIXTURE_H

#include "props/cross/cross.h"
#include "common/test/unit_test.h"

/* The world's stacks, of two frames, three frames and one. */
enum { LEAF, DEEP, OTHER };
#define NOWHERE TRUTH_NO_STACK
extern const uintptr_t leaf[2];
extern const uintptr_t deep[3];
extern const uintptr_t other[1];

extern const struct sim_limits limits;
extern struct sim_world *world;
extern struct sim_config config; /* may be changed before begin_tasks() */
extern struct props_coverage coverage;
extern struct cross cross;
extern struct model_trace trace; /* the trace that judge() read */
extern props_set broken;         /* what judge() found */

/* The events of the world so far. */
extern struct sim_event script[256];
extern uint32_t script_count;

/* Make a world with two processors, and all instruments. */
int set_up(void **state);
int tear_down(void **state);

/* Apply an event, a microsecond after the last one unless it has a delay. */
void apply(struct sim_event event);

/* An event of a processor or of a task, at a stack. */
#define P(at, what, where, ...) \
    apply((struct sim_event){   \
        .kind = SIM_EV_##what, .proc = (at), .stack = (where), __VA_ARGS__})
#define T(who, what, where, ...) \
    apply((struct sim_event){    \
        .kind = SIM_EV_##what, .task = (who), .stack = (where), __VA_ARGS__})

/* Task 1 runs on processor 0, task 2 on processor 1. */
void begin_tasks(void);

/* Begin a trace on processor 0, and let task 2 run again. */
void begin_trace(void);

/* Make a whole collection, on one processor. */
void collect(uint32_t proc);

/* Make one of everything that is compared. */
void run_all(void);

/* Compare the instruments in the first session. */
void judge(void);
void assert_holds(void);

/* returns: only this property is broken */
bool only(enum props_property property);

#endif
