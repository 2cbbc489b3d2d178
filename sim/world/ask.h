/*
 * ask.h -- the questions of the swarm generator. Shared by its files.
 */
#ifndef SIM_ASK_H
#define SIM_ASK_H

#include "generate.h"

/* Labels of the questions; they have meaning for people and for alignment. */
enum label {
    ASK_HASH = 1,
    ASK_DEPTH,
    ASK_START,
    ASK_PROCS,
    ASK_STACKS,
    ASK_STACK_SHAPE,
    ASK_STACK_DEPTH,
    ASK_FEATURE,
    ASK_LENGTH,
    ASK_MORE,
    ASK_TIE,
    ASK_DELAY,
    ASK_TASK,
    ASK_WORK,
    ASK_STACK,
    ASK_SIZE,
    ASK_SIZES,
    ASK_LIFETIMES,
    ASK_VICTIMS,
    ASK_SWEEPER,
    ASK_OBJECT,
    ASK_CYCLES,
    ASK_COLLECT,
    ASK_STW,
    ASK_LATE_FLUSH,
    ASK_SWEEP,
    ASK_POST_SWEEP,
    ASK_READ,
    ASK_ROOM,
    ASK_SEED,
    ASK_LOCK,
    ASK_LOCK_WORK,
    ASK_LOCK_RASH,
    ASK_HOLD,
    ASK_RATE_KIND,
    ASK_RATE,
};

static inline uint32_t
ask(struct sim_generator *g, uint32_t bound, enum sim_kind kind,
    enum label label)
{
    return sim_choose(g->choices, bound, kind, (uint16_t)label);
}

/* The limits that a run's world has: of memory, of numbers, of clocks. */
void sim_draw_limits(struct sim_generator *g);

/* Does something happen to the task's processor, instead of by the task? */
bool sim_draw_hold(struct sim_generator *g, const struct sim_world *world,
                   struct sim_event *event);

/*
 * Let the event of a processor that stands still be another's.
 *
 * returns: false if all stand still
 */
bool sim_find_awake(const struct sim_generator *g, struct sim_event *event);

/* Give stack `index` a shape; some shapes build on the stack before. */
void sim_draw_stack(struct sim_generator *g, uint32_t index);

#endif
