/*
 * ask.h -- the questions of the swarm generator. Shared by its files.
 */
#ifndef SIM_ASK_H
#define SIM_ASK_H

#include "generate.h"

/* Labels of the questions; they have meaning for people and for alignment. */
enum label {
    ASK_HASH = 1,
    ASK_BUCKETS,
    ASK_FRAMES,
    ASK_DEPTH,
    ASK_START,
    ASK_START_OFFSET,
    ASK_PROCS,
    ASK_CLOCK,
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
    ASK_MISS_FLUSH,
    ASK_LATE_FREE,
    ASK_LATE_FLUSH,
    ASK_EARLY_POST_SWEEP,
    ASK_SWEEP,
    ASK_POST_SWEEP,
    ASK_READ,
    ASK_ROOM,
    ASK_SEED,
    ASK_LOCK,
    ASK_LOCK_WORK,
    ASK_LOCK_RASH,
    ASK_JUMP,
    ASK_RATE_KIND,
    ASK_RATE,
};

static inline uint32_t
ask(struct sim_generator *g, uint32_t bound, enum sim_kind kind,
    enum label label)
{
    return sim_choose(g->choices, bound, kind, (uint16_t)label);
}

/* Give stack `index` a shape; some shapes build on the stack before. */
void sim_draw_stack(struct sim_generator *g, uint32_t index);

#endif
