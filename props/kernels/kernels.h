/*
 * kernels.h -- small closed programs over the production core, for the
 * explorer. kernel.def lists them.
 *
 * They are linked with the core's own source, compiled with -fsanitize=thread;
 * nothing of it is visible outside (kernels.ninja).
 */
#ifndef PROPS_KERNELS_H
#define PROPS_KERNELS_H

#include "registry.h"

extern const struct sim_kernel_entry props_kernels[]; /* ends with NULL */

#define X(id, name, preemptions) \
    extern const struct sim_kernel props_kernel_##id;
#include "kernel.def"
#undef X

#endif
