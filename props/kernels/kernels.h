/*
 * kernels.h -- small closed programs over the production core, for the
 * explorer.
 *
 * They are linked with the core's own source, compiled with -fsanitize=thread,
 * and nothing of it is visible outside: see kernels.ninja.
 */
#ifndef PROPS_KERNELS_H
#define PROPS_KERNELS_H

#include "registry.h"

/* Each ends with an empty row. */
extern const struct sim_kernel_entry props_kernels[];

extern const struct sim_kernel props_kernel_same_stack;
extern const struct sim_kernel props_kernel_other_stacks;
extern const struct sim_kernel props_kernel_three_inserters;
extern const struct sim_kernel props_kernel_own_event_is_listed;
extern const struct sim_kernel props_kernel_no_room;
extern const struct sim_kernel props_kernel_record_and_publish;
extern const struct sim_kernel props_kernel_first_snapshot;
extern const struct sim_kernel props_kernel_busy;
extern const struct sim_kernel props_kernel_turn_alloc;
extern const struct sim_kernel props_kernel_turn_free;
extern const struct sim_kernel props_kernel_turn_in_signal;
extern const struct sim_kernel props_kernel_turn_stalled;
extern const struct sim_kernel props_kernel_contention;

#endif
