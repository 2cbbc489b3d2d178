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
    ASK_WORLD,

    /* Where processors take tasks. */
    ASK_TRACE_PROCS = 1,
    ASK_BUFFER_BYTES,
    ASK_DIVISOR,
    ASK_HERTZ,
    ASK_EAGER,
    ASK_READERS,
    ASK_OFFSET,
    ASK_TRACE_STACKS,
    ASK_TRACE_DEPTH,
    ASK_PC,
    ASK_TRACE_FEATURE,
    ASK_TRACE_LENGTH,
    ASK_TRACE_MORE,
    ASK_PROC,
    ASK_EVENT,
    ASK_TRACE_DELAY,
    ASK_OF_TASKS,
    ASK_TRACE_STACK,
    ASK_NUMBER,
    ASK_ORDER,
    ASK_INSTRUMENT,
    ASK_AMOUNT = SIM_FAULT_LABEL - 1,
};

/* What a task may do in one turn, but for leaving its processor. */
enum sim_work {
    WORK_REST,
    WORK_ALLOC,
    WORK_DROP,
    WORK_FREE,
    WORK_EXIT,
    WORK_BLOCK,
    WORK_MUTEX,
    WORK_LOCK,
    WORK_RATE,
};

static inline uint32_t
ask(struct sim_generator *g, uint32_t bound, enum sim_kind kind,
    enum label label)
{
    return sim_choose(g->choices, bound, kind, (uint16_t)label);
}

/* What the library's profiles are told, and what a run's heap may do. */
void sim_draw_library(struct sim_generator *g);
void sim_draw_features(struct sim_generator *g);

/* What this run does not have is not among the answers. */
void sim_list_works(struct sim_generator *g);

/* The limits that a run's heap has: of memory, of numbers. */
void sim_draw_limits(struct sim_generator *g);
void sim_draw_clocks(struct sim_generator *g);

/*
 * One thing that a task does, a collector, an observer.
 *
 * out:     *event, which is all zero before, but for who does it
 * returns: false if nothing is done
 */
bool sim_draw_work(struct sim_generator *g, const struct sim_world *world,
                   enum sim_work work, struct sim_event *event);
bool sim_draw_collection(struct sim_generator *g, const struct sim_world *world,
                         struct sim_event *event);
bool sim_draw_reading(struct sim_generator *g, struct sim_event *event);

/* generate_tasks.c: the same as of generate.h, where processors take tasks. */
void sim_generator_begin_tasks(struct sim_generator *g, bool has_heap);
bool sim_generator_next_task(struct sim_generator *g,
                             const struct sim_world *world,
                             struct sim_event *event);

/* generate_tasks_faults.c: the clocks, and how far the tracer's memory goes;
 * does a fault strike now, on a processor or the reader? */
void sim_draw_trace_limits(struct sim_generator *g);
bool sim_draw_trace_fault(struct sim_generator *g,
                          const struct sim_world *world, uint32_t proc,
                          struct sim_event *event);

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
