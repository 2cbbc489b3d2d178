/*
 * explored_model.h -- a random program, which the explorer runs and the model
 * (rc11.h) judges; part of test_explore_model.c.
 */
#ifndef EXPLORE_TEST_EXPLORED_MODEL_H
#define EXPLORE_TEST_EXPLORED_MODEL_H

#include "explore/engine/explore.h"
#include "explore/test/rc11.h"
#include "common/rng.h"

enum { WRITES_MAX = 4, LOCK_LOCATION = 2 };

enum class {
    ACCESSES, /* relaxed, acquire and release */
    FENCES,   /* ACCESSES, and fences of every order */
    SEQ_CST,  /* all of these; a third are seq_cst */
};

extern struct props_rc11_program program;
extern uint32_t width; /* bytes of a location; they lie side by side */
/* How many seq_cst loads of its own a thread makes before its steps and after
 * them. */
extern uint32_t others[PROPS_RC11_THREADS_MAX][2];
extern bool counts; /* the rounds of its loops */
extern bool locks;  /* exchanges at LOCK_LOCATION are empty critical sections */
extern struct props_rc11_outcomes explored;
extern struct props_rc11_outcomes allowed;

/* Nothing is explored yet. returns: a new kernel, at one of two addresses */
const struct sim_kernel *make_kernel(void);

void draw_program(struct sim_rng *rng, enum class class);
/* Two steps of each thread, at three places. */
void draw_shape(struct sim_rng *rng);
/* A program of which some loads are repeated until they read a certain value.
 */
void draw_waits(struct sim_rng *rng, enum class class);
/* Make some steps, or two of them, the rounds of a loop. Only one thread spins
 * by an exchange: two would store for each other without end. */
void draw_loops(struct sim_rng *rng);
void print_program(void);

/* Compare the outcomes; a test fails with the number of its program. */
void all_are_allowed(uint32_t number);
void all_are_shown(uint32_t number);

#endif
