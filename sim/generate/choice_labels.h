/*
 * choice_labels.h -- the questions that the swarm generator asks; private to
 * its files.
 */
#ifndef SIM_GENERATE_CHOICE_LABELS_H
#define SIM_GENERATE_CHOICE_LABELS_H

#include "sim/generate/generate.h"

/* Labels of the questions; used in reports and for alignment. */
enum label {
    LABEL_HASH = 1,
    LABEL_DEPTH,
    LABEL_START,
    LABEL_PROCS,
    LABEL_STACKS,
    LABEL_STACK_SHAPE,
    LABEL_STACK_DEPTH,
    LABEL_FEATURE,
    LABEL_LENGTH,
    LABEL_MORE,
    LABEL_TIE,
    LABEL_DELAY,
    LABEL_TASK,
    LABEL_WORK,
    LABEL_STACK,
    LABEL_SIZE,
    LABEL_SIZES,
    LABEL_LIFETIMES,
    LABEL_VICTIMS,
    LABEL_SWEEPER,
    LABEL_OBJECT,
    LABEL_CYCLES,
    LABEL_COLLECT,
    LABEL_STW,
    LABEL_LATE_FLUSH,
    LABEL_SWEEP,
    LABEL_POST_SWEEP,
    LABEL_READ,
    LABEL_ROOM,
    LABEL_SEED,
    LABEL_LOCK,
    LABEL_LOCK_WORK,
    LABEL_LOCK_RASH,
    LABEL_CLOCK_FAULT,
    LABEL_RATE_KIND,
    LABEL_RATE,
    LABEL_WORLD,

    /* Where processors take tasks. */
    LABEL_TRACE_PROCS = 1,
    LABEL_BUFFER_BYTES,
    LABEL_DIVISOR,
    LABEL_HERTZ,
    LABEL_EAGER,
    LABEL_READERS,
    LABEL_OFFSET,
    LABEL_TRACE_STACKS,
    LABEL_TRACE_DEPTH,
    LABEL_PC,
    LABEL_TRACE_FEATURE,
    LABEL_TRACE_LENGTH,
    LABEL_TRACE_MORE,
    LABEL_PROC,
    LABEL_EVENT,
    LABEL_TRACE_DELAY,
    LABEL_OF_TASKS,
    LABEL_TRACE_STACK,
    LABEL_NUMBER,
    LABEL_ORDER,
    LABEL_INSTRUMENT,
    LABEL_AMOUNT = SIM_FAULT_LABEL - 1,

    /* For a subject; its other questions have the labels of a heap. */
    LABEL_SUBJECT_WORK = LABEL_AMOUNT + 64,
    LABEL_ALIGN,
    LABEL_ZEROED,
};

enum sim_work {
#define X(id, weight, has) id,
#include "sim/generate/work.def"
#undef X
};

static inline uint32_t
ask(struct sim_generator *g, uint32_t bound, enum sim_kind kind,
    enum label label)
{
    return sim_choose(g->choices, bound, kind, (uint16_t)label);
}

/* Draw the library's rates and options, and the features of a run's heap. */
void sim_draw_library(struct sim_generator *g);
void sim_draw_features(struct sim_generator *g);

/* List what a task of this run may do, without features that the run lacks. */
void sim_list_works(struct sim_generator *g);

/* Draw the limits of a run's heap: memory, sizes and counts. */
void sim_draw_limits(struct sim_generator *g);
void sim_draw_clocks(struct sim_generator *g);

/*
 * Draw one step of a task, a collector or an observer.
 *
 * out:     *event; the caller has zeroed it and set who acts
 * returns: false if nothing is done
 */
bool sim_draw_work(struct sim_generator *g, const struct sim_world *world,
                   enum sim_work work, struct sim_event *event);
bool sim_draw_collection(struct sim_generator *g, const struct sim_world *world,
                         struct sim_event *event);
bool sim_draw_reading(struct sim_generator *g, struct sim_event *event);

/* generate_tasks.c: as in generate.h, where processors take tasks. */
void sim_generator_begin_tasks(struct sim_generator *g, bool has_heap);
bool sim_generator_next_task(struct sim_generator *g,
                             const struct sim_world *world,
                             struct sim_event *event);

/* generate_subject.c: as in generate.h, where a subject watches. */
void sim_generator_begin_subject(struct sim_generator *g);
bool sim_generator_next_for_subject(struct sim_generator *g,
                                    const struct sim_world *world,
                                    struct sim_event *event);

/* generate_tasks_faults.c: draw how the clocks go wrong and how little memory
 * the tracer has; decide whether a fault strikes a processor or the reader. */
void sim_draw_trace_limits(struct sim_generator *g);
bool sim_draw_trace_fault(struct sim_generator *g,
                          const struct sim_world *world, uint32_t proc,
                          struct sim_event *event);

/* Draw whether a fault strikes the task's processor, in place of an event by
 * the task. */
bool sim_draw_hold(struct sim_generator *g, const struct sim_world *world,
                   struct sim_event *event);

/*
 * Give the event of a stalled processor to another one.
 *
 * returns: false if all processors stand still
 */
bool sim_find_awake(const struct sim_generator *g, struct sim_event *event);

/* Give stack `index` a shape; some shapes build on the stack before. */
void sim_draw_stack(struct sim_generator *g, uint32_t index);

#endif
