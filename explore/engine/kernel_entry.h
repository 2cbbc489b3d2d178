/*
 * kernel_entry.h -- kernels by name, for commands and for whole campaigns.
 *
 * To register kernels: write a table that ends with an empty row, and name it
 * in explore/command/explore_command.c (groups).
 */
#ifndef EXPLORE_ENGINE_KERNEL_ENTRY_H
#define EXPLORE_ENGINE_KERNEL_ENTRY_H

#include "explore/engine/explore.h"

struct sim_kernel_entry {
    const char *name; /* NULL: end of the table */
    /* Set up and return the kernel; it stays valid until the next call. */
    const struct sim_kernel *(*make)(void);
    uint32_t preemptions_max; /* if bounded: the limit of exhaustive search */
    bool bounded;
};

#endif
