/*
 * cross_fixture.h -- a small world with all instruments, for tests that compare
 * their results.
 */
#ifndef PROPS_CROSS_FIXTURE_H
#define PROPS_CROSS_FIXTURE_H

#include "cross.h"
#include "unit_test.h"

/* Stacks of the world: two frames, three, and one. */
enum { LEAF, DEEP, OTHER };
#define NOWHERE TRUTH_NO_STACK
extern const uintptr_t leaf[2];
extern const uintptr_t deep[3];
extern const uintptr_t other[1];

extern const struct sim_limits limits;
extern struct sim_world *world;
extern struct sim_config config; /* to be changed before begin_tasks() */
extern struct props_coverage coverage;
extern struct cross cross;
extern struct model_trace trace; /* read by judge() */
extern props_set broken;         /* by judge() */

/* The events of the world so far. */
extern struct sim_event script[256];
extern uint32_t script_count;

/* A world with two processors, and everything that watches it. */
int set_up(void **state);
int tear_down(void **state);

/* Let an event happen; a microsecond later if it says nothing else. */
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

/* A trace begins on processor 0, and task 2 runs again. */
void begin_trace(void);

/* A collection, from one processor. */
void collect(uint32_t proc);

/* Everything there is to compare, once. */
void run_all(void);

/* Compare, in the first session. */
void judge(void);
void assert_holds(void);

/* returns: only this property is broken */
bool only(enum props_property property);

#endif
