/*
 * checkpoint_parts.h -- what a checkpoint has of a search, part by part, and
 * for which searches it is refused.
 */
#ifndef PROPS_CHECKPOINT_PARTS_H
#define PROPS_CHECKPOINT_PARTS_H

#include <stdbool.h>

struct sim_kernel;

/* Write a search that has every field set, and compare what is read. */
void checkpoint_parts_kept(const struct sim_kernel *kernel, const char *file,
                           bool shared);

/* Go on with each option changed in turn: that of the search is not the file's.
 */
void checkpoint_parts_options(const struct sim_kernel *kernel,
                              const char *file);

/* Change bytes: each field of the head has its own message. */
void checkpoint_parts_damaged(const struct sim_kernel *kernel,
                              const char *file);

/* A file, or the one under its other name, that is something else. */
void checkpoint_parts_strange(const struct sim_kernel *kernel,
                              const char *file);

#endif
