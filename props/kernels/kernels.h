/*
 * kernels.h -- small closed programs over the production core, for the
 * explorer. kernel.def lists them.
 *
 * They are linked with the core's own source, compiled with -fsanitize=thread;
 * nothing of it is visible outside (tools/rules.ninja).
 */
#ifndef PROPS_KERNELS_KERNELS_H
#define PROPS_KERNELS_KERNELS_H

#include "explore/engine/kernel_entry.h"

extern const struct sim_kernel_entry props_kernels[]; /* ends with NULL */

#define X(id, name, preemptions) \
    extern const struct sim_kernel props_kernel_##id;
#include "props/kernels/kernel.def"
#undef X

#endif
