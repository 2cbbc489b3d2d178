/*
 * task_list.h -- the tasks of a world as its runtime lists them: the calling
 * task first, then the others by number, without dead tasks and system tasks.
 * Goroutine profiles, dumps and debug lines use this list.
 */
#ifndef SIM_INSTRUMENTS_TASK_LIST_H
#define SIM_INSTRUMENTS_TASK_LIST_H

#include <stddef.h>

#include "prof/text.h"
#include "sim/world/world.h"

/* Room for all of a world's tasks, and what they point to. */
struct sim_task_list {
    size_t count;
    struct prof_task_stack tasks[SIM_SCHEDULED_MAX];
    struct prof_count_record records[SIM_SCHEDULED_MAX]; /* of these tasks */
    struct prof_label labels[SIM_SCHEDULED_MAX];         /* "task": "7" */
    char numbers[SIM_SCHEDULED_MAX][12];
    uintptr_t starts[SIM_SCHEDULED_MAX]; /* stacks of tasks that never ran */
};

/*
 * List the current tasks.
 *
 * in:      own, the calling task; 0: none
 *          with_system: the runtime's own tasks, too
 */
void sim_task_list(struct sim_task_list *list, const struct sim_world *world,
                   uint32_t own, bool with_system);

/*
 * Describe one task of any kind.
 *
 * out:     *start, if the task has never run; it must live as long as *task
 */
void sim_task_describe(struct prof_task_stack *task, uintptr_t *start,
                       const struct sim_world *world, uint32_t number);

/* out: text, the number of a task, as its label has it */
void sim_task_number(char text[12], uint32_t number);

#endif
